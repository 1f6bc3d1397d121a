"""A kernel that is kept running: it rests in a pause, whatever else happens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from xiokv.runtime.gpu.keeper import Keeper

SECONDS = 10
LEASE = 0.2


class Kernel:
    """A kernel whose launches end once they may: when it is halted, or their lease is over.

    Attributes:
        launched: how many there were.
        refused: the launch that fails.
    """

    def __init__(self) -> None:
        self.launched = 0
        self.refused = 0
        self.running = 0
        self.may_end = threading.Event()
        self._change = threading.Condition()
        self._is_halted = False

    def launch(self) -> Callable[[], None]:
        if self.launched + 1 == self.refused:
            self.launched += 1
            raise OSError("launch refused")
        self.launched += 1
        self.running += 1
        return self._wait

    def halt(self, is_over: bool) -> None:
        with self._change:
            self._is_halted = is_over
            self._change.notify_all()

    def _wait(self) -> None:
        self.may_end.wait(SECONDS)
        with self._change:
            self._change.wait_for(lambda: self._is_halted, LEASE)
        self.running -= 1


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_nothing_runs_in_a_pause_and_it_goes_on_after_it(
    stack: ExitStack, wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    kernel = Kernel()
    kernel.may_end.set()
    keeper = stack.enter_context(Keeper(kernel.launch, kernel.halt))
    wait_until(lambda: kernel.launched > 0)

    with keeper.paused():
        assert kernel.running == 0
        launched = kernel.launched
    wait_until(lambda: kernel.launched > launched)


def test_a_pause_that_is_interrupted_while_it_waits_is_none(
    stack: ExitStack,
    wait_until: Callable[[Callable[[], bool]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = Kernel()
    kernel.may_end.set()
    keeper = stack.enter_context(Keeper(kernel.launch, kernel.halt))
    wait_until(lambda: kernel.launched > 0)

    def interrupted(condition: Callable[[], bool]) -> bool:
        monkeypatch.undo()
        raise KeyboardInterrupt

    with keeper._change:
        monkeypatch.setattr(keeper._change, "wait_for", interrupted)
        with pytest.raises(KeyboardInterrupt), keeper.paused():
            pytest.fail("it was interrupted")
    launched = kernel.launched
    wait_until(lambda: kernel.launched > launched)


class Interrupted(Keeper):
    """A keeper whose pause comes just as its thread has been told that it may run."""

    def __init__(self, kernel: Kernel) -> None:
        self.pause_came = threading.Event()
        self._kernel = kernel
        super().__init__(kernel.launch, kernel.halt)

    def _may_run(self) -> Any:
        may = super()._may_run()
        if not self.pause_came.is_set():
            threading.Thread(target=self._pause, daemon=True).start()
            while self._pauses == 0:
                pass
        return may

    def _pause(self) -> None:
        with self.paused():
            self.pause_came.set()


def test_a_pause_that_comes_as_the_kernel_starts_is_kept(stack: ExitStack) -> None:
    kernel = Kernel()
    kernel.may_end.set()
    keeper = stack.enter_context(Interrupted(kernel))

    assert keeper.pause_came.wait(SECONDS)


def test_after_a_launch_that_failed_it_rests_only_when_the_one_before_has_ended(
    stack: ExitStack, wait_until: Callable[[Callable[[], bool]], None]
) -> None:
    kernel = Kernel()
    kernel.refused = 2
    keeper = stack.enter_context(Keeper(kernel.launch, kernel.halt))
    wait_until(lambda: kernel.launched == kernel.refused)
    running: list[int] = []

    def pause() -> None:
        with keeper.paused():
            running.append(kernel.running)

    pausing = threading.Thread(target=pause, daemon=True)
    pausing.start()
    pausing.join(0.05)
    kernel.may_end.set()
    pausing.join(SECONDS)

    assert running == [0]
    assert "launch refused" in str(keeper.failure)
