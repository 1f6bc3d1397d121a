"""Load a compiled module, own queues, move blocks by key.

Names are imported when they are first used, so that a command line that only compiles
does not wait for NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xiokv.runtime.abi import Outcome
    from xiokv.runtime.buffer import Buffer
    from xiokv.runtime.controller import Controller, Limits
    from xiokv.runtime.drivers.base import Place
    from xiokv.runtime.drivers.host import Stream
    from xiokv.runtime.emulator import Emulator
    from xiokv.runtime.errors import (
        ArgumentFault,
        DeadQueueFault,
        LostFault,
        MissingFault,
        RuntimeFault,
    )
    from xiokv.runtime.gpu.relay import Relay
    from xiokv.runtime.kv import KV
    from xiokv.runtime.memory_mode import MemoryMode
    from xiokv.runtime.module import Module, load
    from xiokv.runtime.nvme import Passthrough, passthrough
    from xiokv.runtime.operation import Operation
    from xiokv.runtime.queues import QueuePair
    from xiokv.runtime.results import BatchFault, Result

__all__ = [
    "KV",
    "ArgumentFault",
    "BatchFault",
    "Buffer",
    "Controller",
    "DeadQueueFault",
    "Emulator",
    "Limits",
    "LostFault",
    "MemoryMode",
    "MissingFault",
    "Module",
    "Operation",
    "Outcome",
    "Passthrough",
    "Place",
    "QueuePair",
    "Relay",
    "Result",
    "RuntimeFault",
    "Stream",
    "load",
    "passthrough",
]

_HOMES = {
    "abi": ("Outcome",),
    "buffer": ("Buffer",),
    "controller": ("Controller", "Limits"),
    "drivers.base": ("Place",),
    "drivers.host": ("Stream",),
    "emulator": ("Emulator",),
    "errors": ("ArgumentFault", "DeadQueueFault", "LostFault", "MissingFault", "RuntimeFault"),
    "gpu.relay": ("Relay",),
    "kv": ("KV",),
    "memory_mode": ("MemoryMode",),
    "module": ("Module", "load"),
    "nvme": ("Passthrough", "passthrough"),
    "operation": ("Operation",),
    "queues": ("QueuePair",),
    "results": ("BatchFault", "Result"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
