"""What xiokv replay does, once its options are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from xiokv.runtime.bench import machine
from xiokv.runtime.kvcache.execution import Verify
from xiokv.runtime.kvcache.metrics import SpanMetrics
from xiokv.runtime.kvcache.metrics_text import json_line
from xiokv.runtime.kvcache.plan import Plan
from xiokv.runtime.kvcache.replay.place import Where, open_place
from xiokv.runtime.kvcache.replay.reading import plan_files
from xiokv.runtime.kvcache.replay.report import as_values as values
from xiokv.runtime.kvcache.replay.report import lines, summary, what_is_wrong
from xiokv.runtime.kvcache.replay.run import Options, Outcome, Replay
from xiokv.runtime.kvcache.replay.shapes import Recipe, Shape, generate
from xiokv.runtime.kvcache.replay.xio_keys import Written, XioKeys, arguments_file
from xiokv.runtime.leftovers import cleared, lasting_place, refuse_read_only
from xiokv.runtime.output_files import (
    OutputFile,
    check_different,
    check_writable,
    output_file,
)

__all__ = ["Asked", "lines", "replay", "setting", "summary", "values", "what_is_wrong"]

_ENDLESS = 1 << 62

Source = Callable[[], Iterable[Plan]]


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of the command, by its names."""

    plans: tuple[str, ...]
    generate: int | None
    shape: Shape
    block_tokens: int
    save: Path | None
    seed: int
    sizes: tuple[int, ...]
    shards: int
    target: str | None
    device: str | None
    store: str
    storage: str
    queues: int
    depth: int
    room: int
    checksums: Verify
    decline: float
    faults: bool
    keep: bool
    keys_file: Path | None
    metrics_file: Path | None
    as_json: bool

    @property
    def where(self) -> Where:
        """Where plans are replayed."""
        return Where(
            target=self.target,
            device=self.device,
            store=self.store,
            in_memory=self.storage == "memory",
            queues=self.queues,
            depth=self.depth,
            faults=self.faults,
            seed=self.seed,
        )

    def options(self, size: int) -> Options:
        """Return how plans are replayed with blocks of a size."""
        keep = self.keep or bool(self.keys_file and self.device)
        return Options(
            sizes=(size,) * self.shards,
            seed=self.seed,
            verify=self.checksums,
            decline=self.decline,
            faults=self.faults,
            room=_ENDLESS if keep else self.room,
            keep=keep,
        )


def replay(asked: Asked) -> Iterator[tuple[int, Outcome]]:
    """Replay for each size of a block; end with the first that is wrong."""
    asked.where.check()
    refuse_read_only(asked.store, "replay")
    _check_files(asked)
    _target(asked)  # nothing is written where it is not there
    keys = XioKeys()
    with ExitStack() as stack:
        source = _source(asked, stack)
        file = None
        if asked.metrics_file is not None:
            file = stack.enter_context(output_file(asked.metrics_file))
        for size in asked.sizes:
            outcome = _run(asked, size, source, file, keys)
            yield size, outcome
            if not outcome.ok:
                return
    if asked.keys_file is not None:
        _tell_keys(keys.write(asked.keys_file, asked.device), keys.left_out)


def setting(asked: Asked) -> dict[str, Any]:
    """Return what was replayed, and on what machine."""
    return {
        "machine": machine.describe(),
        "setting": {
            "target": _target(asked),
            "device": asked.device,
            "store": asked.store,
            "storage": asked.storage,
            "plans": asked.generate or list(asked.plans),
            "shape": asked.shape if asked.generate else None,
            "block_tokens": asked.block_tokens if asked.generate else None,
            "shards": asked.shards,
            "seed": asked.seed,
            "queues": asked.queues,
            "depth": asked.depth,
            "store_bytes": asked.room,
            "checksums": asked.checksums,
            "decline": asked.decline,
            "faults": asked.faults,
        },
    }


def _check_files(asked: Asked) -> None:
    """Refuse an output that is an input or another output, or that cannot be written."""
    outputs = [
        (name, path)
        for name, path in (
            ("--save", asked.save),
            ("--metrics", asked.metrics_file),
            ("--emit-xio-keys", asked.keys_file),
        )
        if path is not None
    ]
    beside = arguments_file(asked.keys_file) if asked.keys_file is not None else None
    if beside is not None:
        outputs.append(("--emit-xio-keys, keys for arguments", beside))
    check_different(outputs, [("a file of plans", Path(path)) for path in asked.plans])
    for _, path in outputs:
        check_writable(path)


def _run(
    asked: Asked, size: int, source: Source, file: OutputFile | None, keys: XioKeys
) -> Outcome:
    def tell(span: SpanMetrics) -> None:
        if file is not None:
            file.write(_line({**span.as_values(), "block_bytes": size}))

    with open_place(asked.where) as place:
        replayed = Replay(place, asked.options(size), tell, keys.add)
        with cleared(replayed, lasting_place(asked.store, asked.device)):
            outcome = replayed.run(source())
    if file is not None:
        file.write(_line({**outcome.metrics.as_values(), "block_bytes": size}))
    return outcome


def _line(values: dict[str, Any]) -> bytes:
    return f"{json_line(values)}\n".encode()


def _source(asked: Asked, stack: ExitStack) -> Source:
    """Return what yields the plans, any number of times."""
    if not asked.generate:
        return stack.enter_context(plan_files(asked.plans)).plans
    recipe = Recipe(asked.generate, asked.seed, asked.shape, asked.block_tokens)
    if asked.save is not None:
        _save(asked.save, generate(recipe))
    return lambda: generate(recipe)


def _save(path: Path, plans: Iterable[Plan]) -> None:
    """Write plans, one a line, all of them or nothing."""
    with output_file(path) as file:
        for plan in plans:
            file.write(plan.canonical + b"\n")


def _target(asked: Asked) -> str | None:
    if asked.storage == "memory":
        return None
    from xiokv.runtime.module import load

    return load("host" if asked.device else asked.target).target


def _tell_keys(written: Written, left_out: int) -> None:
    """Say what was written, and what to do with it, beside the output."""
    first = f"wrote {written.keys} keys, five words each, to {written.packed}"
    second = f"wrote {written.usable} keys that can be arguments to {written.arguments}"
    if written.arguments is None:
        second = f"{written.packed} is no regular file: no keys for arguments are beside it"
    for line in (first, second, f"left out {left_out} keys" if left_out else ""):
        click.echo(line, err=True) if line else None
    if written.arguments is None:
        return
    if written.device is None:
        click.echo("the values are not on a device; store some first:", err=True)
        click.echo(written.command("store"), err=True)
    click.echo(written.command(), err=True)
