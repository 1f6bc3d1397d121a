"""What a connector works on: options in, a block store out that outlives dead queues.

A queue that timed out may still carry commands out, so a call that met one returns only when
the queues were replaced: after that nothing of the caller's memory is touched. Then nothing is
tried for some time, so that a server is not slowed down by a controller that is gone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TypeVar

from xiokv.runtime.batch import dead_pairs
from xiokv.runtime.closing import Closing
from xiokv.runtime.connectors.controllers import opened
from xiokv.runtime.connectors.options import Options
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.kvcache.block_store import BlockStore
from xiokv.runtime.log import log
from xiokv.runtime.module import load

_T = TypeVar("_T")


class DownFault(RuntimeFault):
    """Queues timed out a short time ago; nothing was tried."""


class Attachment(Closing):
    """Queues on a controller, and the blocks behind them.

    Args:
        options: of the connector.
        target: kind of device where the options name none; None: what there is.
        device: number of the device.

    Attributes:
        options: as given.
        keyspace: whose blocks they are.
    """

    def __init__(self, options: Options, target: str | None = None, device: int = 0) -> None:
        self.options = options
        self.keyspace = options.keyspace()
        self._lock = threading.Lock()
        self._down_until = 0.0
        with ExitStack() as stack:
            controller = stack.enter_context(opened(options.controller, options.queues))
            module = load(options.target or target, device=device)
            self._kv = module.attach(
                controller,
                queues=options.queues,
                depth=options.depth,
                window=min(options.depth - 1, 1023),
                nsid=options.nsid,
                timeout=options.timeout,
            )
            stack.enter_context(self._kv)
            self._blocks = BlockStore(self._kv, checksum=options.checksum)
            self._stack = stack.pop_all()

    def run(self, operation: Callable[[BlockStore], _T]) -> _T:
        """Return what an operation on the blocks does.

        Raises:
            DownFault: queues timed out, and it is too early to try again.
            RuntimeFault: as the operation does.
        """
        self._come_up()
        try:
            return operation(self._blocks)
        finally:
            self._go_down_if_dead()

    def close(self) -> None:
        """Delete the queues, and close a device."""
        self._stack.close()

    def _come_up(self) -> None:
        """Replace queues that are gone, once it is time to."""
        with self._lock:
            left = self._down_until - time.monotonic()
            if left > 0:
                raise DownFault(f"queues timed out; nothing is tried for another {left:.1f} s")
            if self._gone():
                self._down_until = time.monotonic() + self.options.retry
                self._kv.reset()
                self._down_until = 0.0

    def _go_down_if_dead(self) -> None:
        """Replace queues that timed out at once: only then is the caller's memory its own."""
        with self._lock:
            if not dead_pairs(self._kv.queues):
                return
            self._down_until = time.monotonic() + self.options.retry
            try:
                self._kv.reset()
            except Exception as error:
                log.error(
                    "queues that timed out could not be deleted (%s): the controller may still"
                    " write to memory that was to be filled",
                    error,
                )

    def _gone(self) -> bool:
        return bool(dead_pairs(self._kv.queues)) or any(p.closed for p in self._kv.queues)
