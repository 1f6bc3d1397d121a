"""Controllers over a cluster, and what is attached to them; both end with the test."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Any

import numpy as np

from tests.emulator.conftest import Cqe, Host
from tests.targets.device import Bytes
from xiokv.runtime import KV, Emulator, Module

from .cluster import Cluster

LIST = 0x06

#: Seconds that a command may take on a machine that is busy.
PATIENCE = 15


class Attach:
    """Makes controllers on a namespace of a cluster, and attaches to them.

    Args:
        cluster: the cluster.
        namespace: where values are, unless a call says otherwise.
        module: what is attached.
        stack: what ends with the test.
    """

    def __init__(self, cluster: Cluster, namespace: str, module: Module, stack: ExitStack) -> None:
        self.cluster = cluster
        self.namespace = namespace
        self.module = module
        self.stack = stack

    def controller(
        self, *, namespace: str | None = None, url: dict[str, Any] | None = None, **options: Any
    ) -> Emulator:
        """Make a controller; values have up to 64 KiB, unless `options` say otherwise."""
        name = self.namespace if namespace is None else namespace
        store = self.cluster.url(**{"namespace": name, "timeout": PATIENCE, **(url or {})})
        return self.stack.enter_context(
            Emulator(**{"value_max": 1 << 16, **options, "store": store})
        )

    def __call__(
        self,
        *,
        namespace: str | None = None,
        url: dict[str, Any] | None = None,
        controller: dict[str, Any] | None = None,
        **options: Any,
    ) -> KV:
        """Make a controller, and attach to it."""
        made = self.controller(namespace=namespace, url=url, **(controller or {}))
        return self.stack.enter_context(self.module.attach(made, **{"timeout": 30.0, **options}))

    def wire(self, **options: Any) -> Wire:
        """Return a queue pair of bytes, on a controller of its own."""
        return Wire(self.controller(**options)).create()


class Wire(Host):
    """A queue pair of bytes, which threads of the controller serve."""

    def drive(self, most: int = 20) -> int:
        """Wait until a completion is there, `most` seconds at most."""
        end = time.monotonic() + most
        while self.peek() is None:
            assert time.monotonic() < end, "no completion came"
            time.sleep(0.0005)
        return 1

    def create(self) -> Wire:
        """Create the queue pair."""
        super().create()
        return self

    def page(self, start: bytes, size: int) -> tuple[Cqe, list[bytes]]:
        """Return the completion of a List, and the keys of its page of `size` bytes."""
        self.data.put(0, b"\xee" * (size + 4))
        second = self.data.address + 4096
        cqe = self.run(self.sqe(LIST, start, size, self.data.address, second))
        page = self.data.get(0, size)
        assert self.data.get(size, 4) == b"\xee" * 4
        keys, at = [], 4
        for _ in range(int.from_bytes(page[:4], "little") if cqe.status == 0 else 0):
            length = int.from_bytes(page[at : at + 2], "little")
            keys.append(page[at + 2 : at + 2 + length])
            at += (2 + length + 3) // 4 * 4
        assert at <= max(size, 4)
        return cqe, keys

    def walk(self, size: int, start: bytes = b"") -> list[bytes]:
        """Return all keys from `start` on; a page begins at the last key of the one before."""
        found: list[bytes] = []
        while True:
            cqe, keys = self.page(found[-1] if found else start, size)
            assert cqe.status == 0
            fresh = keys[1:] if found else keys
            assert not found or keys[:1] == found[-1:]
            if not fresh:
                return found
            found += fresh


def statuses(result: Any) -> set[int]:
    """Return the status codes of a result, each once."""
    return set(result.nvme_status["sc"].tolist())


def key_array(count: int) -> Bytes:
    """Return keys of 16 bytes, a pattern of all byte values in them."""
    keys = np.zeros((count, 16), np.uint8)
    keys[:, :8] = np.arange(count, dtype=">u8").view(np.uint8).reshape(-1, 8)
    keys[:, 8:] = np.random.default_rng(7).integers(0, 256, (count, 8), np.uint8)
    return keys
