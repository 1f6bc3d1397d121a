"""The command line that a message tells to run, with the options that were given."""

from __future__ import annotations

import shlex
from pathlib import Path


def again(project: str | None, command: str, *flags: str, **options: str | Path | None) -> str:
    """Return a command of xiokv-gen as a shell reads it.

    Args:
        project: the folder that --project named, if any.
        command: name of the subcommand.
        flags: options without a value, which go last.
        options: name without dashes -> value; None where it was not given. `from_` is --from.
    """
    words = ["xiokv-gen", *(["--project", project] if project is not None else []), command]
    for name, value in options.items():
        if value is not None:
            words += [f"--{name.rstrip('_')}", str(value)]
    return shlex.join([*words, *flags])
