"""xiokv breakeven: fetch KV-cache blocks, or compute them again?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from xiokv.runtime.commands.options import InputPath

QUEUES_MAX, RUNS_MAX = 64, 1000

_FETCH = (
    click.option(
        "--target",
        help="Measure on this kind of device; the first that there is by default."
        " $XIOKV_TARGET overrules it.",
    ),
    click.option(
        "--queues",
        type=click.IntRange(1, QUEUES_MAX),
        help="Queue pairs; by default 4, or as many as have cores of their own.",
    ),
    click.option(
        "--depth", type=click.IntRange(2, 65536), help="Entries of each ring; 1024 by default."
    ),
    click.option(
        "--runs", type=click.IntRange(1, RUNS_MAX), help="Samples of each time; 7 by default."
    ),
    click.option(
        "--place",
        type=click.Choice(["device", "host"]),
        help="Where blocks end: in a GPU's memory, or in the host's.",
    ),
    click.option(
        "--store",
        metavar="URL",
        help="Measure with blocks in a Ceph pool, such as"
        " rados://pool/namespace?conf=/etc/ceph/ceph.conf&user=client.kv; by default they are"
        " in the embedded controller's memory.",
    ),
    click.option(
        "--recorded",
        type=InputPath(),
        help="Measure nothing: take what xiokv bench --json, or this command, has written.",
    ),
    click.option("--fetch-gbps", metavar="N", help="Measure nothing: so many 10^9 bytes a second."),
    click.option(
        "--fetch-latency-us",
        metavar="N",
        help="Beside --fetch-gbps, or where --recorded has none; 0 by default.",
    ),
    click.option(
        "--block-sizes",
        metavar="SIZE[,SIZE]",
        help="Of a block; all that --recorded has, or 4KiB,16KiB,128KiB,1MiB.",
    ),
)
_RECOMPUTE = (
    click.option(
        "--prefill-tokens-per-s",
        "speeds",
        multiple=True,
        metavar="[MODEL=]N",
        help="Speed of a prefill, where it is known.",
    ),
    click.option(
        "--flops",
        multiple=True,
        metavar="[MODEL=]N",
        help="Else: peak FLOPs a second of what computes, such as 989e12.",
    ),
    click.option(
        "--mfu", metavar="PART", help="Part of --flops that a prefill comes to; 0.5 by default."
    ),
    click.option(
        "--parameters",
        multiple=True,
        metavar="[MODEL=]N",
        help="Active parameters a token, in place of the model's own.",
    ),
)
_MODELS = (
    click.option(
        "--model",
        "models",
        multiple=True,
        metavar="NAME",
        help="deepseek-v3, llama-3.1-8b or qwen3-next-80b-a3b; may be repeated; all by default.",
    ),
    click.option(
        "--geometry",
        "files",
        multiple=True,
        type=InputPath(),
        help="A model of your own, as TOML; may be repeated.",
    ),
    click.option(
        "--kv-dtype",
        type=click.Choice(["bf16", "fp8"]),
        default="bf16",
        show_default=True,
        help="Of keys and values.",
    ),
    click.option(
        "--checkpoint-every",
        type=click.IntRange(min=1),
        metavar="TOKENS",
        help="Of models with a recurrent state: where states are kept; at the end by default.",
    ),
    click.option("--contexts", metavar="N[,N]", help="Tokens; 1Ki to 128Ki by default."),
)


def _with(options: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    """Return what adds options to a command, in their order."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _folder(ctx: click.Context, param: click.Parameter, value: str | None) -> Path | None:
    """Return a folder; an empty name would be the working folder's."""
    if value == "":
        raise click.BadParameter("an empty name is no folder; give one, such as charts")
    return None if value is None else Path(value)


@click.command(name="breakeven")
@_with((*_FETCH, *_RECOMPUTE, *_MODELS))
@click.option(
    "--plot",
    "folder",
    type=click.Path(file_okay=False),
    callback=_folder,
    help="Write charts into this folder, as SVG; needs matplotlib.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(folder: Path | None, as_json: bool, **given: Any) -> None:
    """Tell from how long a context on it pays to fetch KV-cache blocks.

    By default it is measured now what blocks of each size cost to Retrieve from the embedded
    controller. What a prefill costs is given, or computed by a formula. The output says of
    each figure which it is.
    """
    # Imported here: nothing else of the command line needs NumPy.
    from xiokv.runtime.kvcache.breakeven import asked, document, plot, report

    if folder is not None:
        plot.check_plotting()
    result = asked.result(asked.Asked(**given))
    for line in report.warnings(result.fetch):
        click.echo(f"warning: {line}", err=True)
    click.echo(document.to_json(result) if as_json else "\n".join(report.lines(result)))
    if folder is not None:
        inputs = [("--geometry", path) for path in given["files"]]
        if given["recorded"] is not None:
            inputs.append(("--recorded", given["recorded"]))
        for path in plot.plot(result, folder, inputs):
            click.echo(f"wrote {path}", err=True)
