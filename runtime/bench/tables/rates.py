"""Commands a second on one queue and on all, with a null controller and with a full one."""

from __future__ import annotations

from collections.abc import Iterator

from xiokv.runtime.bench.lab import Lab
from xiokv.runtime.bench.names import EACH, ENGINE, FULL, NULL, REFERENCE, VALUE_BYTES
from xiokv.runtime.bench.rows import Row
from xiokv.runtime.bench.stand import Stand, full_load, null_load


def measure(lab: Lab) -> Iterator[Row]:
    """Yield the rates of the engine and of the baselines."""
    for queues in sorted({1, lab.queues}):
        for setting in (NULL, FULL):
            yield from rows(lab, "rates", queues, setting)


def rows(lab: Lab, table: str, queues: int, setting: str) -> Iterator[Row]:
    """Yield the rates on some queues in one setting."""
    case = "1 queue" if queues == 1 else f"{queues} queues"
    lab.say(f"{case}, {setting}")
    null = setting == NULL
    load = null_load(lab, queues) if null else full_load(lab, queues, VALUE_BYTES)
    with Stand(lab, load, null=null) as stand:
        samples = stand.rates(REFERENCE, EACH, ENGINE)
    reference, each, engine = (
        Row(table, case, setting, who, "commands/s", tuple(taken), x=queues)
        for who, taken in samples.items()
    )
    yield from (reference, each.beside(reference), engine.beside(reference, each))
