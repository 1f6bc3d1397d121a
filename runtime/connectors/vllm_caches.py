"""vLLM's KV caches as memory: tensors of layers in, where the bytes of blocks lie out.

Nothing is copied to move a block: the engine gets the whole storage and offsets into it. Layers
that lie side by side within a block are one run, and a run of a block is one value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xiokv.runtime.connectors.raw import Bytes, bytes_of
from xiokv.runtime.connectors.vllm_slots import CacheSlots, HostCopies, host_copies
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.kvcache.states import Ints


@dataclass(frozen=True, slots=True)
class Run:
    """Layers whose bytes lie side by side within a block.

    Attributes:
        begin: where block 0 begins in the storage.
        stride: bytes from block to block.
        size: bytes of a block.
    """

    begin: int
    stride: int
    size: int

    def with_next(self, other: Run) -> Run | None:
        """Return both as one, where they are side by side in every block."""
        if (other.begin, other.stride) != (self.begin + self.size, self.stride):
            return None
        size = self.size + other.size
        return Run(self.begin, self.stride, size) if size <= self.stride else None


class Region:
    """Runs in one storage.

    Args:
        tensor: a cache that is a view of it.
        runs: in it.
        blocks: of each.
        first: number of the first run among those of all regions.

    Attributes:
        runs: as given.
        first: as given.
        memory: all of its bytes, as the engine takes them.
    """

    def __init__(self, tensor: Any, runs: Sequence[Run], blocks: int, first: int) -> None:
        import torch

        self.runs = runs
        self.first = first
        items = tensor.untyped_storage().nbytes() // tensor.element_size()
        self.memory = tensor.as_strided((items,), (1,), 0).view(torch.uint8)
        self._rows = [
            self.memory.as_strided((blocks, run.size), (run.stride, 1), run.begin) for run in runs
        ]

    def slots(self, ids: Ints, runs: range) -> CacheSlots:
        """Return the slots of some runs of blocks, run by run."""
        begins = [self.runs[run].begin + ids * self.runs[run].stride for run in runs]
        sizes = self._sizes(ids, runs)
        return CacheSlots(self.memory, np.concatenate(begins), sizes, self, ids, runs)

    def copies(self, ids: Ints, runs: range) -> HostCopies:
        """Return room on the host for copies of the same."""
        return host_copies(self, ids, runs, self._sizes(ids, runs))

    def read(self, run: int, ids: list[int]) -> Bytes:
        """Return the bytes of blocks of a run on the host, by one copy of all of them."""
        return bytes_of("blocks", self._rows[run][ids].cpu()).reshape(len(ids), -1)

    def write(self, run: int, ids: list[int], content: Bytes) -> None:
        """Replace the bytes of blocks of a run, by one copy of all of them."""
        import torch

        own = torch.from_numpy(np.ascontiguousarray(content))
        self._rows[run][ids] = own.to(self.memory.device)

    def _sizes(self, ids: Ints, runs: range) -> Ints:
        return np.repeat([self.runs[run].size for run in runs], len(ids))


def regions_of(caches: Mapping[str, Any], blocks: int) -> list[Region]:
    """Return the memory of caches.

    Args:
        caches: the cache of each layer; its first dimension is that of blocks.
        blocks: how many there are.

    Raises:
        ArgumentFault: the bytes of a block of a layer do not lie in one piece.
    """
    found: dict[int, list[tuple[Run, Any]]] = {}
    for name, tensor in caches.items():
        storage = tensor.untyped_storage().data_ptr()
        found.setdefault(storage, []).append((_run_of(name, tensor, blocks), tensor))
    regions: list[Region] = []
    for one in found.values():
        first = sum(len(region.runs) for region in regions)
        runs = _joined({run for run, _ in one})
        regions.append(Region(one[0][1], runs, blocks, first))
    return regions


def _run_of(name: str, tensor: Any, blocks: int) -> Run:
    """Return the run of one layer; a block may be split into several in the first dimension."""
    shape, strides, item = tuple(tensor.shape), tensor.stride(), tensor.element_size()
    parts, rest = divmod(shape[0], blocks)
    size = math.prod(shape[1:])
    dense = _is_dense(shape[1:], strides[1:])
    if rest or not parts or not dense or (parts > 1 and strides[0] != size):
        raise ArgumentFault(
            f"the cache of {name} (shape {shape}, strides {strides}) does not have {blocks} blocks"
            " of one piece each; choose a layout of the KV cache that has, such as LBNHC"
        )
    return Run(tensor.storage_offset() * item, strides[0] * parts * item, size * parts * item)


def _is_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Tell whether elements lie without gaps, whatever the order of dimensions."""
    step = 1
    for stride, length in sorted(
        (stride, length) for stride, length in zip(strides, shape, strict=True) if length > 1
    ):
        if stride != step:
            return False
        step *= length
    return True


def _joined(runs: Iterable[Run]) -> list[Run]:
    """Return runs, those of layers side by side as one."""
    joined: list[Run] = []
    for run in sorted(runs, key=lambda run: (run.stride, run.begin)):
        both = joined[-1].with_next(run) if joined else None
        if both is not None:
            joined.pop()
        joined.append(both or run)
    return joined
