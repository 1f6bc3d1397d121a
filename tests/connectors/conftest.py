"""A controller that connectors find by its name, and what its faults need to know."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from xiokv.runtime.kvcache.records import RECORD

_names = itertools.count()


@pytest.fixture(scope="session")
def xiokv_module(module: Any) -> Any:
    """Return this checkout's module for the kit."""
    return module


@dataclass
class Stand:
    """A controller, and what was stored on it since a moment.

    Attributes:
        name: what a connector's configuration says.
        rig: the test kit's.
    """

    name: str
    rig: Any
    seen: set[bytes] = field(default_factory=set)

    def options(self, **more: Any) -> dict[str, Any]:
        """Return a connector's configuration; its time is enough on a busy machine."""
        return {"controller": self.name, "tenant": "t", "queues": 2, "depth": 64,
                "timeout": 10, "retry": 0.2, **more}  # fmt: skip

    def stored(self) -> list[bytes]:
        """Return the keys of values, records left out, that came since the last call."""
        new = set(self.rig.kv.list()) - self.seen
        self.seen |= new
        return sorted(key for key in new if self._size(key) != RECORD.itemsize)

    def _size(self, key: bytes) -> int:
        return int(self.rig.kv.retrieve([key], np.zeros(4, np.uint8), copy=True).value_size[0])


@pytest.fixture
def make_stand(xiokv_make: Any, module: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that makes a `Stand`."""
    from contextlib import ExitStack

    from xiokv.runtime.connectors.controllers import offer

    monkeypatch.setenv("XIOKV_MODULE", str(module.path))
    with ExitStack() as stack:

        def make(**controller: Any) -> Stand:
            rig = xiokv_make(controller=controller, timeout=10.0)
            name = f"stand-{next(_names)}"
            stack.enter_context(offer(name, rig.controller))
            return Stand(name, rig)

        yield make


@pytest.fixture
def stand(make_stand: Callable[..., Stand]) -> Stand:
    """Return a controller that connectors find."""
    return make_stand()
