"""What the embedded controller was asked to retrieve, by its own trace."""

from __future__ import annotations

from collections.abc import Iterator

from xiokv.generated.nvme_kv import Opcode
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.errors import RuntimeFault

_CAPACITY = 1 << 18


class Trace:
    """The Retrieve commands that a controller fetched.

    Args:
        controller: the embedded controller, which records from now on.
    """

    def __init__(self, controller: Emulator) -> None:
        self._controller = controller
        controller.trace_start(_CAPACITY)

    def forget(self) -> None:
        """Leave out what was recorded up to now."""
        self._controller.trace()

    def retrieved(self) -> set[bytes]:
        """Return the keys that were asked for since the last call.

        Raises:
            RuntimeFault: the trace had not room for all.
        """
        keys = set(self._keys())
        if self._controller.counters().trace_lost:
            raise RuntimeFault(
                f"the controller's trace lost entries, so that nothing can be said of declined"
                f" spans: it holds {_CAPACITY}; replay plans of fewer blocks, or without --decline"
            )
        return keys

    def _keys(self) -> Iterator[bytes]:
        for record in self._controller.trace():
            data = record.data
            if record.kind == "sqe" and record.qid and data[0] == Opcode.RETRIEVE:
                # CDW2 and CDW3, CDW14 and CDW15, and CDW11's length.
                yield (data[8:16] + data[56:64])[: data[44]]
