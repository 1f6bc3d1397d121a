"""xiokv bench: measure the engine beside baselines of the same run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from xiokv.runtime.bench.report import Run

TABLE_NAMES = (
    "floor",
    "alone",
    "rates",
    "launch",
    "values",
    "device",
    "queues",
    "keys",
    "sizes",
    "rados",
    "rados-queues",
    "rados-depth",
)
QUEUES_MAX = 64

# \b keeps the lines that follow as they are.
_TABLES = """\b
Tables:
  floor   a round trip between device and CPU, and a launch that does nothing
  alone   on the host: its own work for a command
  rates   commands a second on one queue and on all
  launch  one launch of 1, 32, 256 and 1023 keys
  values  values in memory of the host, beside a client on the CPU
  device  on a GPU: blocks into its memory, beside the CPU with a copy
  queues, keys, sizes  how figures grow with each
\b
With --store, and then by default only these:
  rados   values in a Ceph pool, beside rados bench on the same pool
  rados-queues, rados-depth  how they grow with each
"""


def _names(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tables that were asked for, in their order; none where none was."""
    asked = [name.strip() for text in value for name in text.split(",")]
    for name in asked:
        if name not in TABLE_NAMES:
            known = ", ".join(TABLE_NAMES)
            raise click.BadParameter(f"{name!r} is no table; there are {known}")
    return tuple(name for name in TABLE_NAMES if name in asked)


def _folder(ctx: click.Context, param: click.Parameter, value: str | None) -> Path | None:
    """Return a folder; an empty name would be the working folder's."""
    if value == "":
        raise click.BadParameter("an empty name is no folder; give one, such as charts")
    return None if value is None else Path(value)


@click.command(name="bench", epilog=_TABLES)
@click.option(
    "--target",
    help="Kind of device to measure; the first that there is by default."
    " $XIOKV_TARGET overrules it.",
)
@click.option(
    "--only",
    "--rows",
    "names",
    multiple=True,
    metavar="TABLE[,TABLE]",
    callback=_names,
    help="Only these tables; may be repeated.",
)
@click.option(
    "--queues",
    type=click.IntRange(1, QUEUES_MAX),
    help="Most queues; by default as many as have cores of their own, up to 14.",
)
@click.option(
    "--store",
    metavar="URL",
    help="Measure values in a Ceph pool, such as rados://pool/namespace?conf=/etc/ceph/ceph.conf.",
)
@click.option("--quick", is_flag=True, help="Fewer and shorter rounds: a look, not a result.")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Measure nothing: show what an earlier run wrote with --json.",
)
@click.option(
    "--plot",
    "folder",
    type=click.Path(file_okay=False),
    callback=_folder,
    help="Write charts into this folder, as SVG; needs matplotlib.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    target: str | None,
    names: tuple[str, ...],
    queues: int | None,
    store: str | None,
    quick: bool,
    source: Path | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Measure the engine beside baselines of the same run.

    Every figure is a median with the least and the largest sample. On a GPU times are those
    of its own events. Where the run is on the machine that goals are set for, a table tells
    whether they were reached; nothing fails where they were not.

    A pool is written to; whatever was written is deleted. 0.9 times as fast as rados bench is
    what is wanted there.
    """
    # Imported here: nothing else of the command line needs NumPy.
    from xiokv.runtime.bench import plot

    if source is not None and (target or queues or quick or store is not None):
        raise click.UsageError(
            "--from measures nothing: leave --target, --queues, --store and --quick out"
        )
    run = (
        _shown(source, names, folder, as_json)
        if source
        else _measured(target, names, queues, store, quick, folder, as_json)
    )
    if folder is not None:
        for path in plot.plot(run, folder):
            click.echo(f"wrote {path}", err=True)


def _measured(
    target: str | None,
    names: tuple[str, ...],
    queues: int | None,
    store: str | None,
    quick: bool,
    folder: Path | None,
    as_json: bool,
) -> Run:
    """Measure; print each table as soon as it is there."""
    from xiokv.runtime.bench import plot, report
    from xiokv.runtime.bench import run as running
    from xiokv.runtime.bench.catalog import TABLES
    from xiokv.runtime.bench.lab import FULL, QUICK, Lab, named_cluster
    from xiokv.runtime.bench.progress import Progress
    from xiokv.runtime.module import load

    cluster = None if store is None else named_cluster(store)
    module = load(target)
    fitting = _fitting(names, module.target, cluster is not None)
    if folder is not None:
        plot.check_plotting(fitting)
    if cluster is not None:
        cluster.check_opens()
    progress = Progress()
    with Lab(module, QUICK if quick else FULL, queues, progress.say, cluster) as lab:
        run = running.start(lab)
        _warn(run)
        if not as_json:
            click.echo("\n".join(report.heading(run)))
        for name, rows in running.measure(lab, fitting, progress):
            run.rows.extend(rows)
            if not as_json:
                click.echo("\n".join(report.table(TABLES[name].title, rows)))
    if as_json:
        click.echo(report.to_json(run))
    return run


def _fitting(names: tuple[str, ...], target: str, store: bool) -> tuple[str, ...]:
    """Return the tables to measure; say which of those asked for cannot be."""
    from xiokv.runtime.bench.catalog import CLUSTER, TABLES

    others = [name for name in names if not TABLES[name].fits(target, store)]
    told = [
        f"table {name} needs {CLUSTER}: give --store rados://pool/namespace"
        if TABLES[name].needs == CLUSTER
        else f"table {name} needs {TABLES[name].needs}, and the target is {target}"
        for name in others
    ]
    if others and len(others) == len(names):
        raise click.UsageError(f"nothing to measure: {'; '.join(told)}")
    for line in told:
        click.echo(f"warning: {line}: left out", err=True)
    if store and not names:
        return tuple(name for name, table in TABLES.items() if table.needs == CLUSTER)
    return tuple(n for n in names or TABLES if TABLES[n].fits(target, store))


def _shown(source: Path, names: tuple[str, ...], folder: Path | None, as_json: bool) -> Run:
    """Print what an earlier run found."""
    from xiokv.runtime.bench import plot, report, saved
    from xiokv.runtime.bench.catalog import TABLES

    run = saved.read(source)
    there = [name for name in TABLES if any(row.table == name for row in run.rows)]
    absent = [name for name in names if name not in there]
    if absent:
        raise click.UsageError(
            f"{source} has no table {', '.join(absent)}; it has {', '.join(there)}"
        )
    chosen = names or there
    if folder is not None:
        plot.check_plotting(chosen)
    _warn(run)
    run.rows[:] = [row for row in run.rows if row.table in chosen]
    if as_json:
        click.echo(report.to_json(run))
        return run
    click.echo("\n".join(report.heading(run)))
    for name in chosen:
        rows = [row for row in run.rows if row.table == name]
        click.echo("\n".join(report.table(TABLES[name].title, rows)))
    return run


def _warn(run: Run) -> None:
    from xiokv.runtime.bench import report

    for line in report.warnings(run):
        click.echo(f"warning: {line}", err=True)
