"""Controllers, and relays before them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from xiokv.runtime.emulator import Emulator
from xiokv.runtime.gpu.relay import Relay
from xiokv.runtime.module import Module


@pytest.fixture(scope="session", autouse=True)
def _surroundings(own_surroundings: None) -> None:
    """Work in the checkout's own surroundings."""


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
