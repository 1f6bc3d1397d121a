"""The command `xiokv` for tests: arguments in, exit code and texts out."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from xiokv.runtime.cli import main

ROOT = Path(__file__).resolve().parents[1]

#: The command in a process of its own.
TOOL = (sys.executable, "-c", "from xiokv.runtime.cli import main; main()")


@dataclass(frozen=True)
class Done:
    """What a run came to.

    Attributes:
        code: exit code.
        out: standard output.
        err: standard error.
    """

    code: int
    out: str
    err: str

    @property
    def values(self) -> Any:
        """Standard output, which is JSON."""
        return json.loads(self.out)


Tool = Callable[..., Done]


def in_this_process(capsys: pytest.CaptureFixture[str], *subcommand: str) -> Tool:
    """Return what runs the command, or one of its subcommands, in this process."""

    def call(*arguments: object) -> Done:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([*subcommand, *map(str, arguments)])
        captured = capsys.readouterr()
        return Done(int(left.value.code or 0), captured.out, captured.err)

    return call


def own_environment() -> dict[str, str]:
    """Return variables for a process: the checkout's own cache, and none of xiokv's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XIOKV_")}
    return kept | {"XDG_CACHE_HOME": str(ROOT / "build" / "cache")}
