"""Where a controller's values are: a place in a cluster in, what the C side takes out."""

from __future__ import annotations

import ctypes
import threading

from xiokv.runtime import rados


class Store:
    """A store that is open; without a place, there is none beside the controller's own memory.

    Args:
        functions: the library that closes it.
        pool: the place; opening it connects to the cluster.

    Attributes:
        handle: what a controller is made on; None for its own memory.
    """

    def __init__(self, functions: ctypes.CDLL, pool: rados.RadosUrl | None) -> None:
        self._functions = functions
        self._lock = threading.Lock()
        self.handle = None if pool is None else rados.open_store(pool)

    def close(self) -> None:
        """Disconnect; no controller has queues on it any more. Twice is once."""
        with self._lock:
            handle, self.handle = self.handle, None
        if handle is not None:
            self._functions.xiokv_emu_store_close(handle)
