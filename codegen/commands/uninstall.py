"""xiokv-gen uninstall: take away what install put below a prefix."""

from __future__ import annotations

import json
from pathlib import Path

import click

from xiokv.codegen.clipath import GivenPath
from xiokv.codegen.install import uninstall


@click.command(name="uninstall")
@click.option(
    "--prefix",
    required=True,
    type=GivenPath(file_okay=False),
    help="The folder that was given to install.",
)
@click.option("--package", help="Which of several packages.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(prefix: str, package: str | None, as_json: bool) -> None:
    """Take away what install put below a prefix; no project is needed.

    Folders that become empty go too. Files that xiokv-gen did not write stay.
    """
    folder = Path(prefix).resolve()
    removed = uninstall(folder, package)
    if as_json:
        names = [path.relative_to(folder).as_posix() for path in removed]
        click.echo(json.dumps({"prefix": str(folder), "removed": names}, indent=2))
    else:
        lines = [f"removed {path}" for path in removed]
        click.echo("\n".join(lines or [f"nothing was left to remove in {folder}"]))
