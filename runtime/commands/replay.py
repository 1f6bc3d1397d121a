"""xiokv replay: carry plans out on blocks of which every byte is known."""

from __future__ import annotations

import json
from typing import Any

import click

from xiokv.runtime.commands.options import Share, existing, output_path
from xiokv.runtime.commands.running import queue_options, store_option, target_option
from xiokv.runtime.commands.sizes import sizes as size_list
from xiokv.runtime.errors import RuntimeFault

SIZES = "4KiB,16KiB,128KiB,1MiB"

# \b keeps the lines that follow as they are.
_SHAPES = """\b
Shapes of plans:
  wrapper  a document behind another prompt than the one it was first seen behind
  tool     an agent's prompt, schemas of tools in any order, results of calls
  rag      an instruction, then retrieved passages in any order
  mixed    all of them
"""


def _one_size(ctx: click.Context, param: click.Parameter, value: str) -> int:
    found = size_list(1 << 20, 64 << 30)(ctx, param, value)
    if len(found) > 1:
        raise click.BadParameter(f"{value} is {len(found)} sizes; give one")
    return found[0]


@click.command(name="replay", epilog=_SHAPES)
@click.argument("plans", nargs=-1, metavar="[PLAN]...")
@click.option("--generate", type=click.IntRange(1), metavar="N", help="Make N plans instead.")
@click.option(
    "--shape",
    type=click.Choice(("wrapper", "tool", "rag", "mixed")),
    default="mixed",
    show_default=True,
    help="Of the plans that are made.",
)
@click.option(
    "--block-tokens",
    type=click.IntRange(1, 65536),
    default=64,
    show_default=True,
    help="Tokens of a block, of the plans that are made.",
)
@click.option(
    "--save",
    type=output_path(),
    metavar="FILE",
    help="Write the plans that are made, one a line.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, (1 << 32) - 1),
    default=1,
    show_default=True,
    help="Of plans, bytes, faults and declined spans.",
)
@click.option(
    "--block-bytes",
    "sizes",
    callback=size_list(1),
    default=SIZES,
    show_default=True,
    help="Sizes of a block, up to 32MiB; the plans are replayed for each.",
)
@click.option(
    "--shards",
    type=click.IntRange(1, 1024),
    default=2,
    show_default=True,
    help="Blocks of the same tokens, such as keys and values.",
)
@target_option
@click.option(
    "--device",
    metavar="PATH",
    help="A key-value namespace, such as /dev/ng0n1, in place of the embedded controller.",
)
@store_option
@click.option(
    "--storage",
    type=click.Choice(("nvme-kv", "memory")),
    default="nvme-kv",
    show_default=True,
    help="Where blocks are; in memory there is no controller.",
)
@queue_options(depth=1024)
@click.option(
    "--store-bytes",
    "room",
    callback=_one_size,
    default="512MiB",
    show_default=True,
    help="Most bytes of donors that are stored at a time; those of one plan may be more, up to"
    " the memory of the machine.",
)
@click.option(
    "--checksums",
    type=click.Choice(("now", "later", "never")),
    default="now",
    show_default=True,
    help="When the executor compares them. Bytes are compared in any case.",
)
@click.option(
    "--decline",
    type=Share(),
    default=0.0,
    metavar="P",
    help="Decline this share of the spans, and look in the controller's trace for them.",
)
@click.option("--faults", is_flag=True, help="Inject faults into the embedded controller.")
@click.option(
    "--keep", is_flag=True, help="Leave the donors on the device or in the pool, all of them."
)
@click.option(
    "--emit-xio-keys",
    "keys_file",
    type=output_path(),
    metavar="FILE",
    help="Write keys for rocm-xio's tester, and print its command line; on a device the donors"
    " are kept.",
)
@click.option(
    "--metrics",
    "metrics_file",
    type=output_path(),
    metavar="FILE",
    help="Write JSON lines: one object a span, and one a run.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(**options: Any) -> None:
    """Carry plans out on blocks of which every byte is known, and measure it.

    PLAN is a file with one plan in JSON, or with one a line; - is standard input. The donors
    that plans name are made, published and taken away again. Every block that lands is
    compared byte by byte, whatever its checksum says; where one that counts is wrong, the
    exit code is 1.
    """
    # Imported here: nothing else of the command line needs NumPy.
    from xiokv.runtime.commands import replaying

    if bool(options["plans"]) == bool(options["generate"]):
        raise click.UsageError("give files of plans, or --generate N, and not both")
    if options["save"] and not options["generate"]:
        raise click.UsageError("--save writes plans that are made: it needs --generate")
    if options["keep"] and not (options["device"] or options["store"] != "memory"):
        raise click.UsageError(
            "--keep leaves donors on a device or in a pool: it needs --device or --store"
        )
    for path in options["plans"]:
        existing(path)
    asked = replaying.Asked(**options)
    wrong = None
    runs: list[dict[str, Any]] = []
    for size, outcome in replaying.replay(asked):
        runs.append(replaying.values(size, outcome))
        if not asked.as_json:
            click.echo("\n".join([*replaying.lines(size, outcome), ""]))
        wrong = replaying.what_is_wrong(outcome) if not outcome.ok else None
    if asked.as_json:
        click.echo(json.dumps({**replaying.setting(asked), "runs": runs}, indent=2))
    elif len(runs) > 1:
        click.echo("\n".join(replaying.summary(runs)))
    if wrong:
        raise RuntimeFault(wrong)
