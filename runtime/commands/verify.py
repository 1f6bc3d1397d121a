"""xiokv verify: store stamped blocks, retrieve them, and compare every byte."""

from __future__ import annotations

import json

import click

from xiokv.runtime.commands.running import (
    QUEUES_MAX,
    queue_options,
    store_option,
    target_option,
)
from xiokv.runtime.commands.sizes import sizes as size_list
from xiokv.runtime.errors import RuntimeFault

SIZES = "1,511,4KiB,4097,16KiB,65541,128KiB,1MiB"
THREADS_MAX = 2

# \b keeps the lines that follow as they are.
_CASES = """\b
Cases of each size:
  plain     every value fits its slot
  edges     slots too small and too large, keys that are missing
  disorder  completions out of order, late, twice, of unknown commands
  errors    error statuses and false sizes for some keys
  timeouts  commands that never complete; the queues are then replaced
"""


@click.command(name="verify", epilog=_CASES)
@queue_options(depth=64)
@click.option(
    "--sizes",
    callback=size_list(0),
    default=SIZES,
    show_default=True,
    help="Value sizes, up to 32MiB.",
)
@click.option(
    "--count",
    type=click.IntRange(min=1),
    help="Blocks of each size in each case; by default 256, or as many as 8 MiB hold.",
)
@click.option("--faults/--no-faults", default=True, show_default=True, help="Inject faults.")
@click.option(
    "--seed",
    type=click.IntRange(0, (1 << 32) - 1),
    default=1,
    show_default=True,
    help="Of the stamps, the places and the faults.",
)
@target_option
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    queues: int,
    depth: int,
    sizes: tuple[int, ...],
    count: int | None,
    faults: bool,
    seed: int,
    target: str | None,
    store: str,
    as_json: bool,
) -> None:
    """Store stamped blocks on the embedded controller, retrieve them, compare every byte.

    Each word of a block says which key, place and version it belongs to, so that data which
    is misplaced, stale or torn is recognised. Bytes around the slots are compared, too.

    In a Ceph pool, give it a namespace of its own: it deletes what it stored.

    It takes about 100 MiB of memory, or eight times the largest value where that is more.
    """
    # Imported here: nothing else of the command line needs NumPy.
    from xiokv.runtime.emulator import Emulator
    from xiokv.runtime.leftovers import cleared, lasting_place, refuse_read_only
    from xiokv.runtime.module import load
    from xiokv.runtime.verify import report
    from xiokv.runtime.verify.run import Plan, Row, Verifier

    refuse_read_only(store, "verify")
    module = load(target)
    rows: list[Row] = []
    threads = min(queues, THREADS_MAX)
    with (
        Emulator(threads=threads, queues=QUEUES_MAX, seed=seed, store=store) as controller,
        module.attach(controller, queues=queues, depth=depth) as kv,
    ):
        verifier = Verifier(module, controller, kv, Plan(sizes, count, faults, seed))
        if not as_json:
            click.echo(report.heading())
        with cleared(verifier, lasting_place(store)):
            for row in verifier.rows():
                rows.append(row)
                if not as_json:
                    click.echo(report.line(row))
            if as_json:
                setting = {"target": module.target, "queues": queues, "depth": depth, "seed": seed}
                click.echo(json.dumps({**setting, **report.as_values(rows)}, indent=2))
            if rows[-1].wrong:
                raise RuntimeFault(report.what_is_wrong(rows[-1]))
    if not as_json:
        click.echo(report.all_right(rows))
