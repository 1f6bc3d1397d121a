"""Memory of the host driver: anonymous pages, whose address is also their IOVA."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np

from xiokv.runtime.drivers import shared_pages
from xiokv.runtime.drivers.base import Place
from xiokv.runtime.drivers.shared_pages import SharedPages
from xiokv.runtime.errors import RuntimeFault


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
        kind, flag = (SharedPages, mmap.MAP_SHARED) if shared else (mmap.mmap, mmap.MAP_PRIVATE)
        try:
            pages = kind(-1, max(size, 1), flags=flag | mmap.MAP_ANONYMOUS)
        except (OSError, OverflowError, ValueError) as error:
            raise RuntimeFault(f"cannot allocate {size} bytes of memory: {error}") from error
        self._pages: mmap.mmap | None = pages
        # The reference that no clean-up of Python's drops.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(pages))
        self.view: Any = np.frombuffer(pages, np.uint8, size)
        self.size = size
        self.address: int = self.view.ctypes.data
        self.iova = self.view_address = self.address
        if isinstance(pages, SharedPages):
            shared_pages.begin(pages, self.address)

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
