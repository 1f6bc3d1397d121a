"""One launch on one queue, from its first instruction to its last."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from xiokv.runtime.bench.lab import Lab
from xiokv.runtime.bench.names import (
    EACH,
    ENGINE,
    ENGINE_ALONE,
    FULL,
    LEAN,
    NULL,
    PING_PONG,
    REFERENCE,
    VALUE_BYTES,
)
from xiokv.runtime.bench.rows import Row, compared, take_turns
from xiokv.runtime.bench.stand import Stand, full_load, null_load
from xiokv.runtime.bench.tables import floor

KEYS = (1, 32, 256, 1023)

_ALONE_KEYS = 32


def measure(lab: Lab) -> Iterator[Row]:
    """Yield microseconds of one launch, then of the engine's part of one.

    On the host a launch is the engine's part alone.
    """
    for setting in (NULL, FULL):
        for count in KEYS:
            yield from rows(lab, "launch", count, setting)
    if not lab.on_host:
        yield from _alone(lab)


def rows(lab: Lab, table: str, count: int, setting: str) -> Iterator[Row]:
    """Yield the launches of some keys in one setting."""
    lab.say(f"{_keys(count)}, {setting}")
    null = setting == NULL
    load = null_load(lab, 1, count) if null else full_load(lab, 1, VALUE_BYTES, count)
    with Stand(lab, load, null=null) as stand:
        samples = stand.latencies(REFERENCE, LEAN, EACH, ENGINE, count=count)
    yield from compared(
        Row(table, _keys(count), setting, who, "us", tuple(taken), x=count)
        for who, taken in samples.items()
    )


def _alone(lab: Lab) -> Iterator[Row]:
    """Yield what a launch takes beyond one that does nothing, beside a round trip."""
    lab.say("the engine without its launch")
    with Stand(lab, null_load(lab, 1, _ALONE_KEYS), null=True) as stand:
        engine = stand.latencies(ENGINE, count=_ALONE_KEYS)[ENGINE]
    cases = {"nothing": partial(floor.nothing, lab), "ping": partial(floor.ping_pong, lab)}
    samples = take_turns(cases, lab.scale.samples)
    alone = [took - nothing for took, nothing in zip(engine, samples["nothing"], strict=True)]
    what = (_keys(_ALONE_KEYS), NULL)
    ping = Row("launch", *what, PING_PONG, "us", tuple(samples["ping"]))
    yield ping
    yield Row("launch", *what, ENGINE_ALONE, "us", tuple(alone)).beside(ping)


def _keys(count: int) -> str:
    return "1 key" if count == 1 else f"{count:,} keys"
