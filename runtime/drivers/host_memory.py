"""Memory of the host driver: anonymous pages, whose address is also their IOVA."""

from __future__ import annotations

import ctypes
import errno
import mmap
from typing import Any

import numpy as np

from xiokv.runtime.drivers import shared_pages
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.errors import RuntimeFault

_NO_ROOM = (
    "; it may also be the address space (ulimit -v) or the number of mappings (sysctl"
    " vm.max_map_count) that is used up: make fewer and larger buffers"
)


class HostMemory:
    """Zeroed pages that cost nothing until they are touched.

    They stay mapped until `free`, also past the end of the interpreter, whose last steps
    would otherwise unmap what a controller may still write.

    Args:
        size: how many bytes, at least.
        shared: a store may map them a second time and send values from there. A child of
            fork then has the same pages, not a copy.
    """

    place = Place.HOST

    def __init__(self, size: int, *, shared: bool = False) -> None:
        """Map them."""
        try:
            pages = shared_pages.mapped(max(size, 1)) if shared else _private_pages(max(size, 1))
        except (OSError, OverflowError, ValueError) as error:
            hint = _NO_ROOM if isinstance(error, OSError) and error.errno == errno.ENOMEM else ""
            raise RuntimeFault(f"cannot allocate {size} bytes of memory: {error}{hint}") from error
        self._pages: object = pages
        # The reference that no clean-up of Python's drops.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(pages))
        self.view: Any = np.frombuffer(memoryview(pages), np.uint8, size)
        self.size = size
        self.address: int = self.view.ctypes.data
        self.iova = self.view_address = self.address

    def upload(self, start: int = 0, size: int | None = None, stream: Any = None) -> None:
        """Do nothing: there is no shadow."""

    def download(self, start: int = 0, size: int | None = None, stream: Any = None) -> None:
        """Do nothing: there is no shadow."""

    def free(self) -> None:
        """Give the pages back, once nothing in Python views them any more."""
        if self._pages is None:
            return
        pages, self._pages = self._pages, None
        self.view = np.empty(0, np.uint8)
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(pages))


def _private_pages(size: int) -> mmap.mmap:
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
