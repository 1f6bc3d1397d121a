"""Faults of storage, as the tests of a connector need them: by key, and the same each time.

Two kinds. Some change the values that are stored; they come first. The others strike
commands from then on, until `clear`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from types import NoneType
from typing import Any

from xiokv.generated.nvme_kv import Status
from xiokv.runtime.arguments import integer, seconds
from xiokv.runtime.emulator import Emulator, FaultKind
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.keys import pack_keys
from xiokv.runtime.kv import KV
from xiokv.runtime.module import Module
from xiokv.runtime.operation import Operation
from xiokv.runtime.results import BatchFault

_MILLION = 1_000_000
_READING = (Operation.RETRIEVE, Operation.EXIST)


class Faults:
    """Makes a controller go wrong.

    All calls take keys as `KV.retrieve` does.

    Args:
        module: reaches what is stored, by queues of its own.
        controller: the one that goes wrong.
        kv: what is attached to it.
        seed: of what is chosen at random.
    """

    def __init__(self, module: Module, controller: Emulator, kv: KV, seed: int) -> None:
        self._module = module
        self._controller = controller
        self._kv = kv
        self._random = random.Random(seed)  # noqa: S311 - to be the same each time
        self._injected = self._hung = False

    def pick(self, keys: Any, count: int) -> list[bytes]:
        """Return some of the keys, chosen by the seed, in their order."""
        wanted = self._bytes(keys)
        if not 0 <= integer("count", count) <= len(wanted):
            raise ArgumentFault(f"count {count}: there are {len(wanted)} keys")
        return [wanted[at] for at in sorted(self._random.sample(range(len(wanted)), count))]

    # What is stored

    def truncate(self, keys: Any, size: int) -> None:
        """Cut stored values: only the first `size` bytes are left.

        A Retrieve is OK, its `value_size` says how many bytes came, and the rest of the slot
        is as it was.
        """
        if integer("size", size) < 0:
            raise ArgumentFault(f"size {size}: 0 or more is needed")
        self._change(keys, lambda value: value[:size])

    def lengthen(self, keys: Any, extra: int) -> None:
        """Append zeros to stored values, so that they no longer fit: TRUNCATED."""
        most = self._kv.limits.value_max
        if not 1 <= integer("extra", extra) <= most:
            raise ArgumentFault(f"extra {extra}: 1 to {most} is allowed, the largest value's size")
        self._change(keys, lambda value: value + bytes(extra))

    def flip(self, keys: Any, bits: int = 1) -> None:
        """Flip so many bits of each stored value, at places chosen by the seed."""
        if integer("bits", bits) < 1:
            raise ArgumentFault(f"bits {bits}: 1 or more is needed")
        self._change(keys, lambda value: self._flipped(value, bits))

    # What strikes commands

    def miss(self, keys: Any) -> None:
        """Let Retrieve and Exist not find the keys: MISSING. They stay stored."""
        for operation in _READING:
            self.fail(keys, sc=Status.KEY_DOES_NOT_EXIST, operation=operation)

    def delay(self, keys: Any, time: float, operation: Operation | None = None) -> None:
        """Complete commands late, by `time` seconds; past the timeout they are TIMEOUT."""
        amount = round(seconds("time", time) * _MILLION)
        self._inject(FaultKind.DELAY, keys, operation, amount=amount)

    def drop(self, keys: Any, operation: Operation | None = None) -> None:
        """Carry commands out, and never complete them: TIMEOUT, and a dead queue."""
        self._inject(FaultKind.DROP, keys, operation)

    def fail(
        self,
        keys: Any,
        *,
        sct: int = 0,
        sc: int = Status.INTERNAL_DEVICE_ERROR,
        dnr: bool = False,
        operation: Operation | None = None,
    ) -> None:
        """Complete commands with a status, without carrying them out: ERROR."""
        if (sct, sc) == (0, 0):
            raise ArgumentFault("SCT 0, SC 00h is success; name a status that is none")
        self._inject(FaultKind.STATUS, keys, operation, sct=sct, sc=sc, dnr=dnr)

    def hang(self) -> None:
        """Let the controller serve nothing more, until `recover`: TIMEOUT."""
        self._controller.kill()
        self._hung = True

    # And back

    def clear(self) -> None:
        """Remove what strikes commands; values that were changed stay so."""
        self._controller.clear_faults()
        self._injected = False

    def recover(self) -> None:
        """Clear, reset the controller, and give the KV new queues; values stay."""
        self.clear()
        self._controller.reset()
        self._hung = False
        self._kv.confirm_deleted()
        self._kv.reset()

    def _inject(
        self, kind: FaultKind, keys: Any, operation: Operation | None, **numbers: Any
    ) -> None:
        if not isinstance(operation, (Operation, NoneType)):
            raise ArgumentFault(
                f"operation is {operation!r}; allowed is one such as Operation.RETRIEVE, or None"
            )
        opcode = operation.opcode if operation else 0
        for key in self._bytes(keys):
            self._controller.fault(kind, key=key, opcode=opcode, **numbers)
            self._injected = True

    def _change(self, keys: Any, change: Callable[[bytes], bytes]) -> None:
        if self._injected or self._hung:
            raise RuntimeFault(
                "stored values are changed by commands, which faults strike now: change values"
                " first, or clear() the faults, or recover() from a hang"
            )
        wanted = self._bytes(keys)
        with self._door() as door:
            for key in wanted:
                door.store([key], [change(_stored(door, key))]).raise_for_status()

    def _door(self) -> KV:
        """Return calls on a queue pair beside the user's, whose block size may be too small."""
        try:
            # The least of queues: memory for lists of pages is as large as the largest value.
            return self._module.attach(self._controller, depth=2, window=1)
        except ArgumentFault as fault:
            raise ArgumentFault(
                f"stored values are changed by a queue pair of the kit's own: {fault}; allow the"
                " controller one more"
            ) from fault

    def _bytes(self, keys: Any) -> list[bytes]:
        packed = pack_keys(keys, None, self._kv.limits.key_max)
        return [packed[index] for index in range(len(packed))]

    def _flipped(self, value: bytes, bits: int) -> bytes:
        if bits > 8 * len(value):
            raise ArgumentFault(f"bits {bits}: a value of {len(value)} bytes has not so many")
        flipped = bytearray(value)
        for bit in self._random.sample(range(8 * len(value)), bits):
            flipped[bit // 8] ^= 1 << bit % 8
        return bytes(flipped)


def _stored(door: KV, key: bytes) -> bytes:
    """Return a value, whatever its size, which the first look tells."""
    size = int(door.retrieve([key], bytearray(4), copy=True).value_size[0])
    value = bytearray(max(size, 4))
    try:
        door.retrieve([key], value, copy=True).raise_for_status()
    except BatchFault as fault:
        raise ArgumentFault(f"no value of key {key!r} can be changed: {fault}") from fault
    return bytes(value[:size])
