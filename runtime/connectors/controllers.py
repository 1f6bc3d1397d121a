"""Controllers by name, since a server's configuration can hold no object."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from xiokv.runtime.controller import Controller
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.nvme import passthrough
from xiokv.runtime.rados import SCHEME

EMULATOR = "emulator"
POOL = f"{SCHEME}://"

_offered: dict[str, Controller] = {}
_lock = threading.Lock()


@contextmanager
def offer(name: str, controller: Controller) -> Iterator[None]:
    """Let connectors of this process find a controller of the program's own.

    Args:
        name: what their configuration says.
        controller: it; who offers it closes it, after what is attached to it.
    """
    if name.startswith("/"):
        raise ArgumentFault(f"name {name!r} is that of a device; give one without a slash")
    with _lock:
        if name in _offered:
            raise ArgumentFault(f"there is a controller {name!r} in this process already")
        _offered[name] = controller
    try:
        yield
    finally:
        with _lock:
            del _offered[name]


@contextmanager
def opened(name: str, queues: int) -> Iterator[Controller]:
    """Yield the controller of a name: a device is opened and closed, the emulator made once.

    Args:
        name: as `Options.controller` has it; the URL of a Ceph pool is that of a controller of
            its own, made once.
        queues: queue pairs that will be created.
    """
    if name.startswith("/"):
        with passthrough(name, queues=queues) as device:
            yield device
    else:
        yield _here(name)


def _here(name: str) -> Controller:
    with _lock:
        if name == EMULATOR and name not in _offered:
            # It lives as long as the process, like what is cached in it.
            _offered[name] = Emulator().__enter__()
        if name.startswith(POOL) and name not in _offered:
            _offered[name] = Emulator(store=name).__enter__()
        if name in _offered:
            return _offered[name]
        known = ", ".join(sorted({EMULATOR, *_offered}))
    raise ArgumentFault(
        f"controller is {name!r}; allowed are the path of a device, the URL of a Ceph pool"
        f" ({POOL}...) and, in this process: {known}"
    )
