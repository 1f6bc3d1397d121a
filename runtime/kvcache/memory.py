"""Bytes of payloads on the host, wherever the caller keeps them: for checksums alone."""

from __future__ import annotations

from typing import Any

from xiokv.runtime.buffer import Buffer
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.states import Ints
from xiokv.runtime.spans import Span, span_of


def on_host(name: str, given: Any, begin: int = 0, end: int | None = None) -> Span:
    """Return the bytes of a buffer on the host, copied from a GPU where they lie in one.

    Args:
        name: of the argument, for messages.
        given: a buffer on the host, one that `Module.empty` made, or a tensor in a GPU that
            has ``cpu()``, as PyTorch's have.
        begin: the first byte that is looked at, 0 or more.
        end: behind the last one; by default all that follow.
    """
    if isinstance(given, Buffer):
        end = given.nbytes if end is None else min(end, given.nbytes)
        if begin < end:
            given.download(begin, end - begin)
        return span_of(name, given.view)
    span = span_of(name, given)
    if span.on_host:
        return span
    if not hasattr(given, "cpu"):
        raise ArgumentFault(
            f"{name} lies in a GPU, and a {type(given).__name__} gives no copy on the host: for"
            " checksums give a buffer of Module.empty or a tensor with cpu(), or leave"
            " verification out"
        )
    return on_host(name, given.cpu())


def slices(memory: Span, offsets: Ints, sizes: Ints) -> list[memoryview]:
    """Return the bytes of each block, where they lie."""
    view = memory.view.data
    ends = (offsets + sizes).tolist()
    return [view[begin:end] for begin, end in zip(offsets.tolist(), ends, strict=True)]
