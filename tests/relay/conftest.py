"""The host module of this checkout, and controllers behind a relay."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from xiokv.runtime import toolchain
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.gpu.relay import Relay
from xiokv.runtime.module import Module, load

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def _surroundings() -> Iterator[None]:
    """Compile into a cache of the checkout's own, with the compiler found by default."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(ROOT / "build" / "cache"))
        patch.delenv("CXX", raising=False)
        yield


@pytest.fixture(scope="session")
def module() -> Module:
    """Return the host module of this checkout, whatever a project's build left."""
    recipe = toolchain.host_recipe(ROOT / "generated", version("xiokv"))
    return load(module=toolchain.build_cached(recipe))


@pytest.fixture
def controller() -> Iterator[Emulator]:
    """Return a controller whose threads run."""
    with Emulator() as emulator:
        yield emulator


@pytest.fixture
def relay(controller: Emulator, module: Module) -> Iterator[Relay]:
    """Return a relay before the controller."""
    with Relay(controller, module) as relay:
        yield relay
