"""Values of a batch: the caller's memory in, its address and each value's place out.

Memory that the controller reaches is used where it lies; a list of values is copied, once,
into one buffer. Value i begins at i times a slot, or at an offset of its own, and always at a
multiple of 4 bytes, as the first entry of a PRP demands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime.arguments import integers
from xiokv.runtime.drivers.base import Driver
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.spans import NO_SPAN, Span, check_format, span_of

ALIGNMENT = 4

_VIEW: Callable[[Any], Any] = memoryview
_NBYTES, _FORMAT = attrgetter("nbytes"), attrgetter("format")
_PADS = tuple(bytes(count) for count in range(ALIGNMENT))

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Values:
    """Where the values of a batch lie.

    Attributes:
        memory: the bytes; holding it keeps them alive.
        sizes: size of each value, or None where all have `size`.
        size: size of every value; 0 where `sizes` says it.
        offsets: where each value begins, or None where they lie `stride` apart.
        stride: bytes from value to value; 0 where `offsets` says it.
        staged: whether the controller does not reach them, so that they have to be copied.
    """

    memory: Span
    sizes: Ints | None
    size: int
    offsets: Ints | None
    stride: int
    staged: bool = False


NO_VALUES = Values(NO_SPAN, None, 0, None, 0)


@dataclass(frozen=True, slots=True)
class Shape:
    """How a call says its values lie.

    Attributes:
        count: number of keys.
        sizes: size of each value, or one for all, or None.
        offsets: where each value begins, or None.
        block_size: bytes of a slot as attached, or None.
        size_max: largest size that one command may carry.
        copy: whether memory that the controller does not reach may be copied.
        what: what messages call one of them: a "value", or the "slot" for one.
    """

    count: int
    sizes: Any
    offsets: Any
    block_size: int | None
    size_max: int
    copy: bool = False
    what: str = "value"


def values_to_store(driver: Driver, given: Any, shape: Shape) -> Values:
    """Return where the values of a Store lie: one buffer, or a list of them."""
    if shape.count == 0:
        return NO_VALUES
    if isinstance(given, (list, tuple)):
        return _joined(driver, given, shape)
    return _placed(driver, "values", span_of("values", given, driver.exchange), shape)


def slots_to_fill(driver: Driver, out: Any, shape: Shape) -> Values:
    """Return where the values of a Retrieve go; no two slots may overlap."""
    if shape.count == 0:
        return NO_VALUES
    memory = span_of("out", out, driver.exchange)
    if not memory.writable:
        raise ArgumentFault("out is read-only; give a buffer that can be written")
    values = _placed(driver, "out", memory, replace(shape, what="slot"))
    if values.offsets is not None:
        sizes = np.full(shape.count, values.size) if values.sizes is None else values.sizes
        _check_apart(values.offsets, sizes)
    return values


def _joined(driver: Driver, given: Sequence[Any], shape: Shape) -> Values:
    """Copy a list of values into one buffer."""
    if shape.sizes is not None or shape.offsets is not None:
        raise ArgumentFault("a list of values has sizes of its own; leave sizes and offsets out")
    if len(given) != shape.count:
        raise ArgumentFault(f"{len(given)} values for {shape.count} keys; give one a key")
    try:
        views = list(map(_VIEW, given))
        sizes = np.fromiter(map(_NBYTES, views), np.int64, shape.count)
        pads = -sizes % ALIGNMENT
        padded = chain.from_iterable(zip(given, map(_PADS.__getitem__, pads), strict=True))
        joined = b"".join(padded)
    except (TypeError, BufferError) as error:
        raise ArgumentFault(f"a list of values holds buffers in one piece each: {error}") from None
    for items in set(map(_FORMAT, views)):
        check_format("a list of values", items)
    _check_sizes(sizes, shape, shape.block_size or shape.size_max)
    offsets = np.cumsum(sizes + pads) - (sizes + pads)
    memory = span_of("values", joined)
    return Values(memory, sizes, 0, offsets, 0, staged=not driver.reaches("values", memory))


def _placed(driver: Driver, name: str, memory: Span, shape: Shape) -> Values:
    if shape.offsets is not None:
        values = _at_offsets(memory, shape)
    else:
        values = _in_slots(name, memory, shape)
    staged = not driver.reaches(name, memory)
    if staged and not shape.copy:
        raise ArgumentFault(
            f"{name} is pageable memory of the host, which a controller of the {driver.name} driver"
            " does not reach: give memory of the GPU, page-locked memory (pin_memory() in"
            " PyTorch) or a buffer of Module.empty(), or say copy=True"
        )
    _check_aligned(name, values, 0 if staged else memory.address, shape.what)
    return replace(values, staged=staged)


def _at_offsets(memory: Span, shape: Shape) -> Values:
    given = shape.block_size if shape.sizes is None else shape.sizes
    if given is None:
        raise ArgumentFault("offsets need sizes, or a block_size at attach")
    sizes, size = _sizes(given, shape, shape.block_size or shape.size_max)
    offsets = integers("offsets", shape.offsets, shape.count)
    wrong = (offsets < 0) | (offsets > memory.size - (size if sizes is None else sizes))
    if wrong.any():
        index = int(wrong.argmax())
        raise ArgumentFault(
            f"{shape.what} {index} of {size if sizes is None else sizes[index]} bytes at offset"
            f" {offsets[index]} leaves the buffer of {memory.size} bytes"
        )
    return Values(memory, sizes, size, offsets, 0)


def _in_slots(name: str, memory: Span, shape: Shape) -> Values:
    slot = shape.block_size or _slot(name, memory.size, shape)
    if memory.size < slot * shape.count:
        raise ArgumentFault(
            f"{name} has {memory.size} bytes; {shape.count} keys of block_size {slot} need"
            f" {slot * shape.count}"
        )
    sizes, size = _sizes(slot if shape.sizes is None else shape.sizes, shape, slot)
    return Values(memory, sizes, size, None, slot)


def _slot(name: str, total: int, shape: Shape) -> int:
    """Return the slot size that divides a buffer evenly among the keys."""
    if total == 0 and shape.sizes is None:
        raise ArgumentFault(f"{name} is empty; for {shape.what}s of no bytes say sizes=0")
    if total % shape.count:
        raise ArgumentFault(
            f"{name} has {total} bytes, which {shape.count} keys do not share evenly; give"
            " offsets and sizes, or a block_size at attach"
        )
    return total // shape.count


def _sizes(given: Any, shape: Shape, slot: int) -> tuple[Ints | None, int]:
    """Return a size a key, or None and one size for all."""
    if isinstance(given, (int, np.integer)):
        size = integers("sizes", [given], 1)
        _check_sizes(size, shape, slot)
        return None, int(size[0])
    sizes = integers("sizes", given, shape.count)
    _check_sizes(sizes, shape, slot)
    return sizes, 0


def _check_sizes(sizes: Ints, shape: Shape, slot: int) -> None:
    most = min(slot, shape.size_max)
    wrong = (sizes < 0) | (sizes > most)
    if not wrong.any():
        return
    index = int(wrong.argmax())
    has, holds = ("has", "its slot holds") if shape.what == "value" else ("is to take", "it holds")
    limit = holds if slot < shape.size_max else "one command may carry here"
    raise ArgumentFault(
        f"{shape.what} {index} {has} {sizes[index]} bytes; 0 to {most} are what {limit}"
    )


def _check_aligned(name: str, values: Values, begin: int, what: str) -> None:
    if begin % ALIGNMENT:
        raise ArgumentFault(
            f"{name} begins at address {begin:#x}; a {what} begins at a multiple of {ALIGNMENT}"
        )
    starts = values.stride if values.offsets is None else values.offsets
    wrong = np.atleast_1d(starts) % ALIGNMENT != 0
    if wrong.any():
        seen = f"slots of {starts}" if values.offsets is None else f"offset {_first(starts, wrong)}"
        raise ArgumentFault(
            f"{seen} bytes: a {what} begins at a multiple of {ALIGNMENT}; pad the {what}s, or give"
            " offsets that are"
        )


def _first(numbers: Any, chosen: npt.NDArray[np.bool_]) -> int:
    return int(numbers[chosen.argmax()])


def _check_apart(offsets: Ints, sizes: Ints) -> None:
    """Refuse slots that overlap: which value such a slot ends up with would be chance."""
    if (offsets[1:] >= offsets[:-1] + sizes[:-1]).all():  # one after the other
        return
    filled = np.flatnonzero(sizes)
    order = filled[np.argsort(offsets[filled], kind="stable")]
    starts = offsets[order]
    overlaps = starts[1:] < starts[:-1] + sizes[order[:-1]]
    if overlaps.any():
        at = int(overlaps.argmax())
        first, second = sorted((int(order[at]), int(order[at + 1])))
        raise ArgumentFault(f"slots of keys {first} and {second} overlap in out; keep them apart")
