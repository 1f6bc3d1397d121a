"""Values in memory of the host: the engine beside a client on the CPU.

Both use the same threads of one controller, on queues of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from xiokv.runtime.bench.lab import Lab
from xiokv.runtime.bench.names import CLIENT, ENGINE
from xiokv.runtime.bench.rows import Row, compared
from xiokv.runtime.bench.stand import Stand, full_load
from xiokv.runtime.units import size_text

SIZES = (4 << 10, 16 << 10, 128 << 10)


def measure(lab: Lab) -> Iterator[Row]:
    """Yield bytes a second of both."""
    queues = min(lab.queues, lab.cores.most(2))
    for size in SIZES:
        yield from rows(lab, "values", size, queues)


def rows(lab: Lab, table: str, size: int, queues: int) -> Iterator[Row]:
    """Yield bytes a second for values of one size."""
    case = size_text(size)
    lab.say(f"{case} on {queues} queues")
    with Stand(lab, full_load(lab, queues, size), null=False, client=True) as stand:
        samples = stand.rates(CLIENT, ENGINE)
        for who in samples:
            stand.check_values(who, stand.load.keys)
    yield from compared(
        Row(table, case, "", who, "bytes/s", tuple(rate * size for rate in taken), x=size)
        for who, taken in samples.items()
    )
