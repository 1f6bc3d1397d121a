"""Where a controller's values are: a place in a cluster in, what the C side takes out."""

from __future__ import annotations

import ctypes

from xiokv.runtime import rados
from xiokv.runtime.drivers import shared_pages


class Store:
    """A store that is open; without a place, there is none beside the controller's own memory.

    It sends large values from the host's shared pages as they lie.

    Args:
        functions: the library that closes it.
        pool: the place; opening it connects to the cluster.

    Attributes:
        handle: what a controller is made on; None for its own memory.
    """

    def __init__(self, functions: ctypes.CDLL, pool: rados.RadosUrl | None) -> None:
        self._functions = functions
        self.handle = None if pool is None else rados.open_store(pool)
        if self.handle is not None:
            shared_pages.follow(self)

    def lend(self, address: int, size: int) -> None:
        """Let it send from pages of the host; what it cannot take it copies."""
        self._functions.xiokv_emu_store_lend(self.handle, address, size)

    def take_back(self, address: int) -> None:
        """Let it send from these pages no more."""
        self._functions.xiokv_emu_store_take_back(self.handle, address)

    def close(self) -> None:
        """Disconnect; no controller has queues on it any more. Twice is once."""
        shared_pages.leave(self)
        handle, self.handle = self.handle, None
        if handle is not None:
            self._functions.xiokv_emu_store_close(handle)
