"""A child of fork: what its parent made is refused or left alone, never waited for."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from xiokv.runtime import home
from xiokv.runtime.drivers.host import Stream
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.module import Module

from .forking import in_child


@pytest.fixture
def parent(module: Module) -> Iterator[SimpleNamespace]:
    """Return all that a parent may have when it forks, threads of the module's included."""
    may_end = threading.Event()
    with Emulator() as emulator, module.attach(emulator, queues=3) as kv, Stream() as stream:
        kv.store([b"a"], [b"1234"]).raise_for_status()
        stream.submit(may_end.wait)
        running = kv.exist([b"a"], stream=stream)
        yield SimpleNamespace(emulator=emulator, kv=kv, stream=stream, running=running)
        may_end.set()
        running.raise_for_status()
        kv.exist([b"a"]).raise_for_status()


REFUSED = {
    "a call": lambda parent: parent.kv.exist([b"a"]),
    "a call in a stream": lambda parent: parent.kv.exist([b"a"], stream=parent.stream),
    "a List": lambda parent: list(parent.kv.list()),
    "a reset of queues": lambda parent: parent.kv.reset(),
    "a wait for all": lambda parent: parent.kv.quiesce(),
    "a confirmation": lambda parent: parent.kv.confirm_deleted(),
    "a wait for a result": lambda parent: parent.running.wait(),
    "a result": lambda parent: parent.running.status,
    "work for a stream": lambda parent: parent.stream.submit(int),
    "a wait for a stream": lambda parent: parent.stream.synchronize(),
    "a start of the controller": lambda parent: parent.emulator.start(),
    "a queue on the controller": lambda parent: parent.emulator.limits(1),
    "a reset of the controller": lambda parent: parent.emulator.reset(),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_needs_the_parents_threads_is_refused(parent: Any, what: str) -> None:
    answer = in_child(lambda: REFUSED[what](parent))
    assert answer.startswith("RuntimeFault: this ")
    assert f"is of process {os.getpid()}" in answer


CLOSED = {
    "KV": lambda parent: parent.kv.close(),
    "stream": lambda parent: parent.stream.close(),
    "controller": lambda parent: parent.emulator.close(),
}


@pytest.mark.parametrize("what", CLOSED)
def test_closing_leaves_the_parents_alone(parent: Any, what: str) -> None:
    assert in_child(lambda: CLOSED[what](parent)) == "None"


def test_a_module_works_in_a_child_too(module: Module, parent: Any) -> None:
    def work() -> object:
        with Emulator() as emulator, module.attach(emulator, queues=3) as kv, Stream() as stream:
            kv.store([b"b"], [b"1234"], stream=stream).raise_for_status()
            return list(kv.list())

    assert in_child(work) == "[b'b']"


def test_a_child_that_drops_the_parents_kv_does_not_close_it(module: Module) -> None:
    with Emulator(queues=1) as emulator:
        held = [module.attach(emulator)]
        held[0].store([b"a"], [b"1234"]).raise_for_status()

        def work() -> object:
            held.clear()
            with Emulator() as other, module.attach(other) as kv:
                return kv.exist([b"a"]).counts

        assert in_child(work) == "{<Outcome.MISSING: 3>: 1}"
        held[0].exist([b"a"]).raise_for_status()
        with pytest.raises(RuntimeFault, match="all 1 queue pairs are taken"):
            module.attach(emulator)
        held[0].close()


def test_a_finaliser_at_the_end_of_the_interpreter_knows_its_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = home.Home("thing")
    monkeypatch.setattr(home, "os", None)
    assert here.is_here
    here.check()
