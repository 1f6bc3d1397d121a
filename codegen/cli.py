"""The command line of xiokv-gen: it dispatches, and turns errors into exit codes."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from xiokv.codegen.errors import ExitCode, XiokvError

COMMANDS = {
    "fetch": "Fetch the upstream headers at a pin, parse them and update the spec file.",
    "build": "Render the spec into headers, encoders, kernels and the Python twin; compile.",
    "check": "Tell whether the generated files are what the inputs render to.",
    "show": "Show a command, record, enum, constant or reserved place of the spec.",
}


class _Lazy(click.Group):
    """A group that imports a subcommand's module only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"xiokv.codegen.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="xiokv")
@click.option(
    "--project",
    type=click.Path(file_okay=False),
    help="Folder of the xiokv.toml to act on; the nearest one upward by default.",
)
@click.pass_context
def cli(ctx: click.Context, project: str | None) -> None:
    """Generate NVMe Key-Value headers, encoders and kernels from SPDK's definitions."""
    ctx.obj = project


def main(argv: list[str] | None = None) -> Any:
    """Run the tool and leave with one of the documented exit codes."""
    try:
        cli.main(args=argv, standalone_mode=False)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(int(ExitCode.USAGE))
    except (click.Abort, KeyboardInterrupt):
        click.echo("xiokv-gen: interrupted", err=True)
        sys.exit(int(ExitCode.FAILURE))
    except XiokvError as error:
        click.echo(f"xiokv-gen: {error}", err=True)
        sys.exit(int(error.exit_code))
    sys.exit(int(ExitCode.OK))
