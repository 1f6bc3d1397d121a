"""What a test of the kit works on: a controller, the calls on it, and its faults."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Protocol

from xiokv.runtime.closing import Closing
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.kv import KV
from xiokv.runtime.module import Module
from xiokv.runtime.testing.faults import Faults


class Rig(Closing):
    """A controller and what is attached to it; a context manager.

    Attributes:
        controller: the embedded controller.
        kv: the calls on its queues.
        faults: what makes it go wrong.
    """

    def __init__(self, controller: Emulator, kv: KV, faults: Faults, stack: ExitStack) -> None:
        """Join them; `make_rig` makes all of them."""
        self.controller = controller
        self.kv = kv
        self.faults = faults
        self._stack = stack

    def close(self) -> None:
        """End faults, delete the queues, end the controller."""
        self._stack.close()


class MakeRig(Protocol):
    """What the fixture xiokv_make returns."""

    def __call__(
        self, *, seed: int = 0, controller: dict[str, Any] | None = None, **options: Any
    ) -> Rig:
        """Make a controller and attach to it; both end with the test."""


def make_rig(
    module: Module, *, seed: int = 0, controller: dict[str, Any] | None = None, **options: Any
) -> Rig:
    """Make a controller and attach to it.

    Args:
        module: what is attached.
        seed: of everything that is chosen at random.
        controller: options of the embedded controller.
        options: those of `Module.attach`.
    """
    with ExitStack() as stack:
        emulator = stack.enter_context(Emulator(**{"seed": seed, **(controller or {})}))
        kv = stack.enter_context(module.attach(emulator, **options))
        # Ends before the rest, so that nothing that a fault holds back is waited for.
        stack.callback(emulator.clear_faults)
        return Rig(emulator, kv, Faults(module, emulator, kv, seed), stack.pop_all())
