"""Data of Exec: keys and inputs in, one buffer a key out, in which its output comes back.

A payload is a 16-bit key length, the key and the input. The controller reads it and writes the
output over it, so that a key's buffer has room for the larger of both. All buffers of a batch
lie in one block of memory that the controller reaches; outputs are copied from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime.abi import Outcome
from xiokv.runtime.arguments import within
from xiokv.runtime.buffer import Buffer
from xiokv.runtime.buffers import ALIGNMENT, NO_VALUES, Ints, Shape, Values, slots_to_fill
from xiokv.runtime.drivers.base import Driver
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.keys import LongKeys
from xiokv.runtime.semantic import DWORDS, SemanticBits
from xiokv.runtime.spans import Span, check_format
from xiokv.runtime.staging import Staged, Staging

COMMAND = "exec"
KEY_MAX = 255

#: Dwords of a batch that may hold another number for each key: the lengths of inputs.
PER_KEY_DWORDS = (11,)

_LENGTH_PLACE, _OPERATION_PLACE = DWORDS.index(11), DWORDS.index(13)
_DWORD_MAX = (1 << 32) - 1
_PREFIX_BYTES = 2
_PREFIXES = tuple(length.to_bytes(_PREFIX_BYTES, "little") for length in range(KEY_MAX + 1))


@dataclass(frozen=True, slots=True)
class Payloads:
    """Data of a batch.

    Attributes:
        content: the buffers, one after the other, with the payloads in them.
        offsets: where each buffer begins.
        sizes: bytes of each that the controller may use.
        out: where the caller wants the outputs.
    """

    content: bytes
    offsets: Ints
    sizes: Ints
    out: Values

    @property
    def values(self) -> Values:
        """The buffers as a batch has them, in memory that is still to be found."""
        return Values(Span(0, len(self.content)), self.sizes, 0, self.offsets, 0, staged=True)


def pack_payloads(
    keys: LongKeys, inputs: Sequence[bytes], out: Values, transfer_max: int
) -> Payloads:
    """Pack the payloads of a call.

    Args:
        keys: of the call, at least one.
        inputs: one a key.
        out: where the outputs go; its sizes are the room for each.
        transfer_max: largest buffer that one command may have.

    Raises:
        ArgumentFault: a payload is too large.
    """
    lengths = _lengths(keys.contents) + _lengths(inputs) + _PREFIX_BYTES
    if (lengths > transfer_max).any():
        index = int(lengths.argmax())
        raise ArgumentFault(
            f"key {index} and its input make {lengths[index]} bytes of data; one command may"
            f" carry {transfer_max} here"
        )
    sizes = np.maximum(lengths, rooms_of(out, len(keys)))
    slots = -(-sizes // ALIGNMENT) * ALIGNMENT
    prefixes = map(_PREFIXES.__getitem__, map(len, keys.contents))
    pads = map(bytes, (slots - lengths).tolist())
    parts = zip(prefixes, keys.contents, inputs, pads, strict=True)
    content = b"".join(chain.from_iterable(parts))
    return Payloads(content, np.cumsum(slots) - slots, sizes, out)


def inputs_of(given: Any, count: int) -> Sequence[bytes]:
    """Return an input a key.

    Args:
        given: bytes for all keys, or a list or tuple of some a key.
        count: number of keys.

    Raises:
        ArgumentFault: it is no bytes, or not one a key.
    """
    if not isinstance(given, (list, tuple)):
        return tuple(repeat(_content("input", given), count))
    if len(given) != count:
        raise ArgumentFault(f"{len(given)} inputs for {count} keys; give one a key, or one for all")
    return tuple(_content(f"input {index}", content) for index, content in enumerate(given))


def outputs_of(driver: Driver, out: Any, shape: Shape) -> Values:
    """Return where the outputs go: memory of the host, or a buffer of `Module.empty`."""
    if out is None:
        if shape.sizes is not None or shape.offsets is not None:
            raise ArgumentFault("sizes and offsets say where outputs go in out; give out, too")
        return NO_VALUES
    values = slots_to_fill(driver, out, replace(shape, copy=True))
    if not values.memory.on_host and not isinstance(out, Buffer):
        raise ArgumentFault(
            "out is memory of another library in the GPU, and outputs of exec come back through"
            " the host: give memory of the host, or a buffer of Module.empty()"
        )
    return values


def numbers_of(inputs: Sequence[bytes], operation: object) -> tuple[SemanticBits, ...]:
    """Return what the batch carries in its places for semantic fields, which Exec lacks."""
    number = within("operation", operation, 0, _DWORD_MAX)
    lengths = _lengths(inputs)
    places = [SemanticBits()] * len(DWORDS)
    places[_LENGTH_PLACE] = SemanticBits(_DWORD_MAX, per_key=lengths.astype(np.uint32))
    if len(set(lengths.tolist())) == 1:
        places[_LENGTH_PLACE] = SemanticBits(_DWORD_MAX, int(lengths[0]))
    places[_OPERATION_PLACE] = SemanticBits(_DWORD_MAX, number)
    return tuple(places)


def rooms_of(out: Values, count: int) -> Ints:
    """Return how many bytes of each output the caller takes."""
    return np.full(count, out.size, np.int64) if out.sizes is None else out.sizes


class PayloadCopy(Staged):
    """The buffers of one batch in the block, and the way back of its outputs.

    Args:
        staging: where the block comes from.
        block: it.
        payloads: what the controller is to read.
    """

    def __init__(self, staging: Staging, block: Buffer, payloads: Payloads) -> None:
        super().__init__(staging, block, len(payloads.content))
        self._payloads = payloads
        block.view[: self._size] = np.frombuffer(payloads.content, np.uint8)

    def take_back(self, records: npt.NDArray[Any]) -> None:
        """Copy the outputs to the caller's memory, as much of each as it has room for.

        The engine knows the buffers only; that an output is larger than its room is seen here.
        """
        self._block.download(0, self._size)
        rooms = rooms_of(self._payloads.out, len(records))
        done = np.isin(records["outcome"], (Outcome.OK, Outcome.TRUNCATED))
        records["outcome"][done & (records["value_size"] > rooms)] = Outcome.TRUNCATED
        taken = np.where(done, np.minimum(records["value_size"], rooms), 0)
        if taken.any():
            _on_host(self._payloads.out.memory, lambda view: self._place(view, taken))

    def _place(self, view: npt.NDArray[np.uint8], taken: Ints) -> None:
        """Put the first `taken` bytes of each output into its slot."""
        out = self._payloads.out
        for index in np.flatnonzero(taken).tolist():
            source, size = int(self._payloads.offsets[index]), int(taken[index])
            to = out.stride * index if out.offsets is None else int(out.offsets[index])
            view[to : to + size] = self._block.view[source : source + size]


def _on_host(memory: Span, write: Callable[[npt.NDArray[np.uint8]], None]) -> None:
    """Write to the caller's memory; what is not written stays as it is."""
    buffer = memory.keep
    if memory.on_host or not isinstance(buffer, Buffer):
        write(memory.view)
        return
    buffer.download()
    write(buffer.view)
    buffer.upload()


def _lengths(contents: Sequence[bytes]) -> Ints:
    return np.fromiter(map(len, contents), np.int64, len(contents))


def _content(name: str, given: Any) -> bytes:
    try:
        view = memoryview(given)
    except TypeError:
        raise ArgumentFault(
            f"{name} is {type(given).__name__}; an input is bytes for all keys, or a list of"
            " bytes, one a key"
        ) from None
    check_format(name, view.format)
    return view.tobytes()
