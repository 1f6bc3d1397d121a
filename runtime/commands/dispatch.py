"""The subcommands of xiokv: arguments in; an exit code, and one line of what went wrong, out."""

from __future__ import annotations

import io
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module

import click

from xiokv.runtime.ending import Ended, end_by, ending_signals
from xiokv.runtime.errors import ExitCode, RuntimeFault

COMMANDS = {
    "bench": "Measure the engine beside baselines of the same run.",
    "breakeven": "Tell from how long a context on it pays to fetch KV-cache blocks.",
    "probe": "Look at a key-value namespace of a device, and try it.",
    "replay": "Carry KV-cache plans out on blocks of which every byte is known.",
    "verify": "Store stamped blocks, retrieve them, and compare every byte.",
}


class _Lazy(click.Group):
    """A group that imports a subcommand's module only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"xiokv.runtime.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_Lazy, no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(package_name="xiokv")
def cli() -> None:
    """Run batched NVMe Key-Value commands on queues, and look at what comes back."""


def run(argv: list[str] | None = None) -> int:
    """Run a subcommand; return one of the documented exit codes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A text may hold characters that the encoding of the terminal lacks.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with ending_signals():
            return _run(argv)
    except (click.Abort, KeyboardInterrupt) as error:
        return _ended(Ended(signal.SIGINT), _notes(error))
    except Ended as ended:
        return _ended(ended, _notes(ended))


def _run(argv: list[str] | None) -> int:
    try:
        cli.main(args=argv, standalone_mode=False)
        if sys.stdout:
            sys.stdout.flush()
    except click.ClickException as error:
        return _told(_usage(error), ExitCode.USAGE)
    except RuntimeFault as fault:
        return _told("\n".join([str(fault), *_notes(fault)]), fault.exit_code)
    except OSError as error:  # a file or a stream that the system refuses anywhere
        _forget_output()
        place = f"{error.filename}: " if error.filename else ""
        return _told(f"{place}{error.strerror or error}", ExitCode.FAILURE)
    return int(ExitCode.OK)


def _ended(ended: Ended, notes: list[str]) -> int:
    """Say by what the command was ended, and what it leaves behind; end the process by it."""
    with suppress(OSError):  # the terminal is gone
        _told("\n".join([str(ended), *notes]), ExitCode.FAILURE)
    _forget_output()
    return end_by(ended.number)


def _notes(error: BaseException) -> list[str]:
    """Return what has to be said beside an error, such as what it leaves behind."""
    return list(getattr(error, "__notes__", ()))


def _told(message: str, code: ExitCode) -> int:
    click.echo(f"xiokv: {message}", err=True)
    return int(code)


def _usage(error: click.ClickException) -> str:
    """Return the fault first, then what click says of the command."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    more = [ctx.get_usage(), f"Try: {ctx.command_path} --help"] if ctx else []
    return "\n".join([error.format_message(), *more])


def _forget_output() -> None:
    """Send what standard output still holds nowhere, lest its failure be told once more."""
    with suppress(OSError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
