"""`xiokv replay` in this process: arguments in, exit code and texts out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from xiokv.runtime.cli import main

#: The same in a process of its own.
TOOL = (sys.executable, "-c", "from xiokv.runtime.cli import main; main()", "replay")


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def values(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Done]


def runner(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what runs the tool."""

    def call(*arguments: object) -> Done:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main(["replay", *map(str, arguments)])
        captured = capsys.readouterr()
        return Done(int(left.value.code or 0), captured.out, captured.err)

    return call
