"""Objects of a cluster, as the C calls of librados read them."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from .cluster import Cluster


class Objects:
    """Reads objects by librados's C calls; a context manager.

    Args:
        cluster: the cluster.
        namespace: of the pool.
        pool: name of another one than that which is there from the start.
    """

    def __init__(self, cluster: Cluster, namespace: str, pool: str | None = None) -> None:
        self._rados = ctypes.CDLL("librados.so.2")
        self._cluster, self._place = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("create", ctypes.byref(self._cluster), b"admin")
        self._call("conf_read_file", self._cluster, str(cluster.conf).encode())
        self._call("connect", self._cluster)
        place = ctypes.byref(self._place)
        self._call("ioctx_create", self._cluster, (pool or cluster.pool).encode(), place)
        self._rados.rados_ioctx_set_namespace(self._place, namespace.encode())
        self._memory = ctypes.create_string_buffer(1 << 20)

    def read(self, name: str, most: int) -> bytes:
        """Return the first bytes of an object, `most` of them."""
        size = self._call(
            "read",
            *(self._place, name.encode(), self._memory),
            *(ctypes.c_size_t(most), ctypes.c_uint64(0)),
        )
        return self._memory[:size]

    def __enter__(self) -> Objects:
        return self

    def __exit__(self, *_: object) -> None:
        self._rados.rados_ioctx_destroy(self._place)
        self._rados.rados_shutdown(self._cluster)

    def _call(self, name: str, *arguments: Any) -> int:
        result = int(getattr(self._rados, f"rados_{name}")(*arguments))
        assert result >= 0, f"rados_{name}: {os.strerror(-result)}"
        return result
