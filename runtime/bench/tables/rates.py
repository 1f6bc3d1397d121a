"""Commands a second on one queue and on all, with a null controller and with a full one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xiokv.runtime.bench.lab import Lab
from xiokv.runtime.bench.names import (
    CLIENT,
    EACH,
    ENGINE,
    FULL,
    LEAN,
    NULL,
    REFERENCE,
    VALUE_BYTES,
)
from xiokv.runtime.bench.rows import Row, compared
from xiokv.runtime.bench.stand import Stand, full_load, null_load


def measure(lab: Lab) -> Iterator[Row]:
    """Yield the rates of the engine, of the baselines and of a client on the CPU.

    What the client gets is what the controller's threads can serve.
    """
    for queues in sorted({1, lab.queues}):
        for setting in (NULL, FULL):
            yield from rows(lab, "rates", queues, setting, (CLIENT, REFERENCE, LEAN, EACH, ENGINE))


def rows(lab: Lab, table: str, queues: int, setting: str, whos: Sequence[str]) -> Iterator[Row]:
    """Yield the rates of some, the engine last, on some queues in one setting."""
    case = "1 queue" if queues == 1 else f"{queues} queues"
    lab.say(f"{case}, {setting}")
    null = setting == NULL
    load = null_load(lab, queues) if null else full_load(lab, queues, VALUE_BYTES)
    # A client without cores of its own would be no measure of the controller.
    client = CLIENT in whos and queues <= lab.cores.most(2)
    with Stand(lab, load, null=null, client=client) as stand:
        samples = stand.rates(*(who for who in whos if who != CLIENT or client))
    yield from compared(
        Row(table, case, setting, who, "commands/s", tuple(taken), x=queues)
        for who, taken in samples.items()
    )
