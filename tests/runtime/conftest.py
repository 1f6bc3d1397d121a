"""Controllers, and what is attached to them; texts of C++ that are compiled by the way."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from xiokv.runtime.drivers.host_memory import HostMemory
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.kv import KV
from xiokv.runtime.module import Module
from xiokv.runtime.queues import QueuePair

from .queue_fakes import LIMITS, Controller, Driver

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def _surroundings(own_surroundings: None) -> None:
    """Work in the checkout's own surroundings."""


@pytest.fixture(scope="session")
def run_gxx(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that compiles a C++ text; this checkout's headers come last."""

    def compile_text(text: str, *flags: str) -> Path:
        folder = tmp_path_factory.mktemp("gxx")
        (folder / "unit.cpp").write_text(text, encoding="utf-8")
        command = ["g++", "-std=c++17", *flags, "-I", ROOT / "generated" / "include"]
        subprocess.run([*command, "unit.cpp", "-o", "unit"], cwd=folder, check=True)
        return folder / "unit"

    return compile_text


Attach = Callable[..., tuple[Emulator, KV]]


@pytest.fixture
def attach(module: Module) -> Iterator[Attach]:
    """Return what makes a controller, with options as a dict, and a KV attached to it."""
    with ExitStack() as stack:

        def make(controller: dict[str, Any] | None = None, **options: Any) -> tuple[Emulator, KV]:
            emulator = stack.enter_context(Emulator(**(controller or {})))
            return emulator, stack.enter_context(module.attach(emulator, **options))

        yield make


@pytest.fixture
def controller() -> Controller:
    return Controller()


@pytest.fixture
def driver() -> Driver:
    return Driver()


@pytest.fixture
def pair(controller: Controller, driver: Driver) -> Iterator[QueuePair]:
    """Return a queue pair of depth 8 on a controller."""
    pair = QueuePair.create(controller, driver, depth=8)
    yield pair
    pair.confirm_deleted()


@pytest.fixture
def pointers() -> Iterator[dict[str, Any]]:
    """Return what something else would say of a queue pair of its own."""
    memory = HostMemory(3 * 4096)
    yield {
        "sq": memory.address,
        "cq": memory.address + 4096,
        "sq_doorbell": memory.address + 8192,
        "cq_doorbell": memory.address + 8196,
        "qid": 3,
        "sq_depth": 16,
        "cq_depth": 8,
        "tail": 5,
        "head": 6,
        "phase": 0,
        "nsid": 1,
        "limits": LIMITS,
    }
    memory.free()


@pytest.fixture
def adopted(pointers: dict[str, Any]) -> Iterator[QueuePair]:
    pair = QueuePair.from_pointers(**pointers)
    yield pair
    pair.confirm_deleted()
