"""Host pools as SGLang has them, with its layouts: pages of known bytes, and where they lie.

Where pieces lie is written here from what the layouts mean, apart from SGLang's own code, with
which a test compares it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.connectors.tensors import Tensor, bfloat16, zeros


class HostPool:
    """Keys and values, or a latent, of some pages.

    Args:
        layout: ``page_first``, ``page_first_direct``, ``page_head`` or ``layer_first``.
        pages: how many.
        latent: whether one latent stands for keys and values.
        dtype: of the elements.
    """

    page_size, layer_num, head_num, head_dim = 4, 3, 2, 8

    def __init__(
        self,
        layout: str = "page_first",
        pages: int = 16,
        latent: bool = False,
        dtype: Any = bfloat16,
    ) -> None:
        self.layout, self.dtype, self.latent = layout, dtype, latent
        self.size = pages * self.page_size
        sides = 1 if latent else 2
        shape = {
            "layer_first": (sides, self.layer_num, self.size, self.head_num, self.head_dim),
            "page_first": (sides, self.size, self.layer_num, self.head_num, self.head_dim),
            "page_first_direct": (
                sides,
                pages,
                self.layer_num,
                self.page_size,
                self.head_num,
                self.head_dim,
            ),
            "page_head": (
                sides,
                pages,
                self.head_num,
                self.page_size,
                self.layer_num,
                self.head_dim,
            ),
        }[layout]
        self.kv_buffer = zeros(shape, dtype)
        self._pages = pages
        self._axis = 2 if layout == "layer_first" else 1

    def indices(self, pages: Any) -> np.ndarray:
        """Return the indices of the tokens of pages."""
        first = np.asarray(pages)[:, None] * self.page_size
        return (first + np.arange(self.page_size)).reshape(-1)

    def fill(self, seed: int) -> None:
        """Fill all pages with bytes that tell them apart."""
        bits = np.random.default_rng(seed).integers(0, 256, self.kv_buffer.array.nbytes, np.uint8)
        self.kv_buffer.array[:] = bits.view(self.dtype.kind).reshape(self.kv_buffer.array.shape)

    def page(self, number: int) -> bytes:
        """Return the bytes of a page."""
        return self.get_data_page(number * self.page_size).array.tobytes()

    def get_page_buffer_meta(self, indices: Any) -> tuple[list[int], list[int]]:
        """Return addresses and sizes of the pieces of pages."""
        array = self.kv_buffer.array
        begin, itemsize = array.ctypes.data, array.itemsize
        addresses, sizes = [], []
        for first in indices.tolist()[:: self.page_size]:
            for piece in self._pieces(array, first):
                addresses.append(begin + (piece.ctypes.data - begin))
                sizes.append(piece.size * itemsize)
        return addresses, sizes

    def _pieces(self, array: np.ndarray, first: int) -> list[np.ndarray]:
        end = first + self.page_size
        if self.layout == "layer_first":
            return [side[layer, first:end] for layer in range(self.layer_num) for side in array]
        page = first // self.page_size
        paged = self.layout != "page_first"
        return [side[page] if paged else side[first:end] for side in array]

    def get_data_page(self, index: Any, flat: bool = True) -> Tensor:
        first, page = int(index), int(index) // self.page_size
        end = first + self.page_size
        array = self.kv_buffer.array
        if self.layout == "layer_first":
            part = array[:, :, first:end]
        else:
            part = array[:, first:end] if self.layout == "page_first" else array[:, page : page + 1]
        return Tensor(np.ascontiguousarray(part).reshape(-1), self.dtype)

    def set_from_flat_data_page(self, index: Any, data: Tensor) -> None:
        first, page = int(index), int(index) // self.page_size
        end = first + self.page_size
        array = self.kv_buffer.array
        if self.layout == "layer_first":
            part = array[:, :, first:end]
        else:
            part = array[:, first:end] if self.layout == "page_first" else array[:, page : page + 1]
        part[:] = data.array.reshape(part.shape)

    def get_dummy_flat_data_page(self) -> Tensor:
        return Tensor(
            np.zeros(self.kv_buffer.array.size // self._pages, self.dtype.kind), self.dtype
        )
