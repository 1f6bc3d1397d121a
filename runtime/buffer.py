"""Memory for values, as a module gives it: the controller reaches it wherever it lies."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime.drivers.base import Memory, Place

_INTERFACE_VERSION = 3


class Buffer:
    """Bytes on the host, or in a GPU, where other libraries take it as an array.

    ``torch.as_tensor(buffer, device="cuda")`` works on its bytes in the GPU; on the host
    `view` is a NumPy array of them. The memory is free when nothing holds the buffer any more.
    """

    def __init__(self, memory: Memory) -> None:
        """Own some memory; `Module.empty` makes a buffer."""
        self._memory = memory
        weakref.finalize(self, memory.free).atexit = False

    @property
    def nbytes(self) -> int:
        """How many bytes there are."""
        return self._memory.size

    @property
    def place(self) -> Place:
        """Where they are."""
        return self._memory.place

    @property
    def iova(self) -> int:
        """Where they begin for the controller."""
        return self._memory.iova

    @property
    def view(self) -> npt.NDArray[np.uint8]:
        """The bytes on the host; of a buffer in a GPU, as `upload` and `download` left them."""
        view: npt.NDArray[np.uint8] = self._memory.view
        return view

    def upload(self, start: int = 0, size: int | None = None, stream: Any = None) -> None:
        """Copy from `view` to the GPU; on the host do nothing.

        Args:
            start: first byte.
            size: bytes; by default all that follow.
            stream: copy in its order and return at once; without one, wait for the copy.
        """
        self._memory.upload(start, size, stream)

    def download(self, start: int = 0, size: int | None = None, stream: Any = None) -> None:
        """Copy from the GPU to `view`; arguments as for `upload`."""
        self._memory.download(start, size, stream)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """What other libraries need of a buffer in a GPU."""
        if self.place is not Place.DEVICE:
            raise AttributeError("a buffer on the host has no __cuda_array_interface__: see view")
        return {
            "version": _INTERFACE_VERSION,
            "shape": (self.nbytes,),
            "typestr": "|u1",
            "data": (self._memory.address, False),
            "strides": None,
            "stream": None,
        }

    def __len__(self) -> int:
        return self.nbytes
