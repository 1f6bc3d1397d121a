"""Faults of storage, as the tests of a connector need them: by key, and the same each time.

Two kinds. Some change the values that are stored; they come first. The others strike
commands from then on, until `clear`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

from xiokv.generated.nvme_kv import Status
from xiokv.runtime.arguments import integer, seconds
from xiokv.runtime.emulator import Emulator, FaultKind
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.kv import KV
from xiokv.runtime.module import Module
from xiokv.runtime.operation import Operation
from xiokv.runtime.results import BatchFault

_MILLION = 1_000_000
_READING = (Operation.RETRIEVE, Operation.EXIST)


class Faults:
    """Makes a controller go wrong.

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
        self._injected = False

    def pick(self, keys: Sequence[bytes], count: int) -> list[bytes]:
        """Return some of the keys, chosen by the seed, in their order."""
        if not 0 <= integer("count", count) <= len(keys):
            raise ArgumentFault(f"count {count}: there are {len(keys)} keys")
        return [keys[at] for at in sorted(self._random.sample(range(len(keys)), count))]

    # What is stored

    def truncate(self, keys: Iterable[bytes], size: int) -> None:
        """Cut stored values: only the first `size` bytes are left.

        A Retrieve is OK, its `value_size` says how many bytes came, and the rest of the slot
        is as it was.
        """
        if integer("size", size) < 0:
            raise ArgumentFault(f"size {size}: 0 or more is needed")
        self._change(keys, lambda value: value[:size])

    def lengthen(self, keys: Iterable[bytes], extra: int) -> None:
        """Append zeros to stored values, so that they no longer fit: TRUNCATED."""
        if integer("extra", extra) < 1:
            raise ArgumentFault(f"extra {extra}: 1 or more is needed")
        self._change(keys, lambda value: value + bytes(extra))

    def flip(self, keys: Iterable[bytes], bits: int = 1) -> None:
        """Flip so many bits of each stored value, at places chosen by the seed."""
        if integer("bits", bits) < 1:
            raise ArgumentFault(f"bits {bits}: 1 or more is needed")
        self._change(keys, lambda value: self._flipped(value, bits))

    # What strikes commands

    def miss(self, keys: Iterable[bytes]) -> None:
        """Let Retrieve and Exist not find the keys: MISSING. They stay stored."""
        for operation in _READING:
            self.fail(keys, sc=Status.KEY_DOES_NOT_EXIST, operation=operation)

    def delay(self, keys: Iterable[bytes], time: float, operation: Operation | None = None) -> None:
        """Complete commands late, by `time` seconds; past the timeout they are TIMEOUT."""
        amount = round(seconds("time", time) * _MILLION)
        for key in keys:
            self._inject(FaultKind.DELAY, key, operation, amount=amount)

    def drop(self, keys: Iterable[bytes], operation: Operation | None = None) -> None:
        """Carry commands out, and never complete them: TIMEOUT, and a dead queue."""
        for key in keys:
            self._inject(FaultKind.DROP, key, operation)

    def fail(
        self,
        keys: Iterable[bytes],
        *,
        sct: int = 0,
        sc: int = Status.INTERNAL_DEVICE_ERROR,
        dnr: bool = False,
        operation: Operation | None = None,
    ) -> None:
        """Complete commands with a status, without carrying them out: ERROR."""
        for key in keys:
            self._inject(FaultKind.STATUS, key, operation, sct=sct, sc=int(sc), dnr=dnr)

    def hang(self) -> None:
        """Let the controller serve nothing more, until `recover`: TIMEOUT."""
        self._controller.kill()

    # And back

    def clear(self) -> None:
        """Remove what strikes commands; values that were changed stay so."""
        self._controller.clear_faults()
        self._injected = False

    def recover(self) -> None:
        """Clear, reset the controller, and give the KV new queues; values stay."""
        self.clear()
        self._controller.reset()
        self._kv.confirm_deleted()
        self._kv.reset()

    def _inject(
        self,
        kind: FaultKind,
        key: bytes,
        operation: Operation | None,
        *,
        amount: int = 0,
        sct: int = 0,
        sc: int = 0,
        dnr: bool = False,
    ) -> None:
        if not key:
            raise ArgumentFault("a key of no bytes: name keys of 1 to 16 bytes")
        opcode = operation.opcode if operation else 0
        self._controller.fault(kind, key=key, opcode=opcode, amount=amount, sct=sct, sc=sc, dnr=dnr)
        self._injected = True

    def _change(self, keys: Iterable[bytes], change: Callable[[bytes], bytes]) -> None:
        if self._injected:
            raise RuntimeFault(
                "stored values are changed by commands, which faults strike now: change values"
                " first, or clear() the faults"
            )
        # The least of queues: memory for lists of pages is as large as the largest value.
        with self._module.attach(self._controller, depth=2, window=1) as door:
            for key in keys:
                door.store([key], [change(_stored(door, key))]).raise_for_status()

    def _flipped(self, value: bytes, bits: int) -> bytes:
        if bits > 8 * len(value):
            raise ArgumentFault(f"bits {bits}: a value of {len(value)} bytes has not so many")
        flipped = bytearray(value)
        for bit in self._random.sample(range(8 * len(value)), bits):
            flipped[bit // 8] ^= 1 << bit % 8
        return bytes(flipped)


def _stored(door: KV, key: bytes) -> bytes:
    """Return a value, whatever its size, which the first look tells."""
    size = int(door.retrieve([key], bytearray(4)).value_size[0])
    value = bytearray(max(size, 4))
    try:
        door.retrieve([key], value).raise_for_status()
    except BatchFault as fault:
        raise ArgumentFault(f"no value of key {key!r} can be changed: {fault}") from fault
    return bytes(value[:size])
