"""The command line of xiokv-gen: it dispatches, and turns errors into exit codes."""

from __future__ import annotations

import io
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

import click

from xiokv.codegen.clipath import GivenPath
from xiokv.codegen.errors import ExitCode, XiokvError

COMMANDS = {
    "init": "Begin a project: a commented xiokv.toml, the bundled spec file and its lock.",
    "fetch": "Fetch the upstream headers at a pin, parse them and update the spec file.",
    "build": "Render the spec into headers, encoders, kernels and the Python twin; compile.",
    "check": "Tell whether the generated files are what the inputs render to.",
    "show": "Show a command, field, record, enum, status or constant of the spec.",
    "path": "Print where headers, the CMake package, the pkg-config file or nvme-kv.h are.",
    "install": "Install the headers, kernel sources and packages below a prefix.",
    "uninstall": "Take away what install put below a prefix.",
    "decode": "Take apart an SQE, a CQE or lines of a trace, given as hexadecimal text.",
    "outdated": "Tell whether SPDK has a newer release than xiokv.lock, and what differs.",
    "doctor": "Tell what is here, what is missing, and what to do about it.",
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


@click.group(
    cls=_Lazy, no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(package_name="xiokv")
@click.option(
    "--project",
    type=GivenPath(file_okay=False),
    help="Folder of the xiokv.toml to act on; the nearest one upward by default.",
)
@click.pass_context
def cli(ctx: click.Context, project: str | None) -> None:
    """Generate NVMe Key-Value headers, encoders and kernels from SPDK's definitions."""
    ctx.obj = project


def main(argv: list[str] | None = None) -> NoReturn:
    """Run the tool and leave with one of the documented exit codes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A text may hold characters that the encoding of the terminal lacks.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        cli.main(args=argv, standalone_mode=False)
        if sys.stdout:
            sys.stdout.flush()
    except click.ClickException as error:
        _leave(_usage(error), ExitCode.USAGE)
    except (click.Abort, KeyboardInterrupt):
        _leave_by(signal.SIGINT, "interrupted")
    except XiokvError as error:
        _leave(str(error), error.exit_code)
    except OSError as error:  # a file or a stream that the system refuses anywhere
        _forget_output()
        place = f"{error.filename}: " if error.filename else ""
        _leave(f"{place}{error.strerror or error}", ExitCode.FAILURE)
    sys.exit(int(ExitCode.OK))


def _leave(message: str, code: ExitCode) -> NoReturn:
    click.echo(f"xiokv-gen: {message}", err=True)
    sys.exit(int(code))


def _leave_by(number: int, message: str) -> NoReturn:
    """End by a signal, so that a shell's loop ends, too."""
    click.echo(f"xiokv-gen: {message}", err=True)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    sys.exit(128 + number)  # where the process outlives its signal


def _usage(error: click.ClickException) -> str:
    """Return the fault first, then what click says of the command."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    more = [ctx.get_usage(), f"Try: {ctx.command_path} --help"] if ctx else []
    said = error.format_message()
    if isinstance(error, click.NoSuchOption) and error.option_name == "--project" and ctx:
        said += f" It goes before the command: xiokv-gen --project FOLDER {ctx.info_name}"
    return "\n".join([said, *more])


def _forget_output() -> None:
    """Send what standard output still holds nowhere, lest its failure be told once more."""
    with suppress(OSError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
