"""How calls come to their queues: a controller in, or queue pairs; a `KV` on them out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from inspect import signature
from operator import or_
from typing import TYPE_CHECKING, Any, TypeGuard

from xiokv.runtime import abi
from xiokv.runtime.arguments import integer, seconds
from xiokv.runtime.buffers import ALIGNMENT
from xiokv.runtime.controller import Controller, Limits, patience_of
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kv import KV
from xiokv.runtime.log import log
from xiokv.runtime.memory_mode import HOST_MEMORY, MemoryMode, memory_modes
from xiokv.runtime.queues import QueuePair, QueueSet

if TYPE_CHECKING:
    from xiokv.runtime.module import Module

_TIMEOUT = 5.0


def attach(
    module: Module,
    controller: Controller | None,
    *,
    queues: int | Sequence[QueuePair] = 1,
    depth: int = 1024,
    window: int = 1023,
    nsid: int = 1,
    block_size: int | None = None,
    timeout: float | None = None,
    memory_mode: int | Sequence[int] = 0,
) -> KV:
    """Create queues on a controller, or take some, and return what works through them.

    Args:
        module: the compiled module that drives the queues.
        controller: where the values are; None where the queues are given.
        queues: how many queue pairs to create, or those of `QueuePair.from_pointers`, which
            closing gives back; a batch is spread over all of them.
        depth: entries of each ring to create.
        window: most commands in flight a queue to create.
        nsid: the namespace, which has to be key-value; queues that are given have theirs.
        block_size: bytes of a slot, where all values have the same; it also keeps the
            memory for PRP lists small.
        timeout: seconds without any completion after which a queue is given up: by default 5,
            or a second more than the controller's store has for a command.
        memory_mode: what lies in the memory of a GPU, as `MemoryMode` says; also one a queue.

    Raises:
        ArgumentFault: the controller does not allow what was asked for.
    """
    timeout = None if timeout is None else seconds("timeout", timeout)
    block_size = block_size if block_size is None else integer("block_size", block_size)
    if _are_pairs(queues):
        for pair in queues:
            _check_block_size(block_size, pair.limits)
        place = _data_place(memory_modes(memory_mode, len(queues)))
        opened = partial(QueueSet, module.driver, queues)
        return KV(module, opened, block_size, timeout or _TIMEOUT, place)
    if controller is None:
        raise ArgumentFault("queues are created on a controller: give one, or give queues")
    _check_block_size(block_size, controller.limits(nsid))
    timeout = _deadline(timeout, patience_of(controller))
    count = integer("queues", queues)
    modes = memory_modes(memory_mode, count)
    open_queues = partial(
        QueueSet.create,
        controller,
        module.driver,
        count,
        memory_mode=modes,
        nsid=integer("nsid", nsid),
        depth=integer("depth", depth),
        window=integer("window", window),
        # A List page needs some room, too.
        max_transfer=block_size and max(block_size, abi.PAGE_BYTES),
    )
    return KV(module, open_queues, block_size, timeout, _data_place(modes))


def _deadline(timeout: float | None, patience: float) -> float:
    """Return when queues are given up: not before the controller ends a command itself."""
    if timeout is None:
        return max(_TIMEOUT, patience + 1.0 if patience else 0.0)
    if timeout <= patience:
        log.warning(
            "queues are given up after %g s without a completion, and their controller's store has"
            " %g s for a command: where it does not answer, the queues are lost, too; attach with a"
            " longer timeout, or give the store's URL a shorter one",
            *(timeout, patience),
        )
    return timeout


def _check_block_size(block_size: int | None, limits: Limits) -> None:
    if block_size is None:
        return
    most = min(limits.value_max, limits.transfer_max or limits.value_max)
    if not ALIGNMENT <= block_size <= most or block_size % ALIGNMENT:
        raise ArgumentFault(
            f"block_size {block_size}: a multiple of {ALIGNMENT} up to {most} is allowed, the"
            " smaller of the namespace's largest value and the controller's MDTS"
        )


def _data_place(modes: Sequence[MemoryMode]) -> Place:
    """Return where memory for values lies, which all queues share."""
    return reduce(or_, modes, HOST_MEMORY).place(MemoryMode.DATA)


OPTIONS = tuple(
    name for name, one in signature(attach).parameters.items() if one.kind is one.KEYWORD_ONLY
)


def _are_pairs(queues: Any) -> TypeGuard[Sequence[QueuePair]]:
    """Tell whether queues are given, and not how many are wanted."""
    return isinstance(queues, (list, tuple)) and all(isinstance(q, QueuePair) for q in queues)
