"""The machine that is looked at: its files, its shell's variables, its libraries and packages.

All that the findings ask goes through one object, so that a test can give them another
machine.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_SECONDS = 20


def _package(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _opens(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _may_use(path: Path) -> bool:
    return os.access(path, os.R_OK | os.W_OK)


def _output(*command: str) -> str:
    """Return what a program prints; nothing where it is not there or fails."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine.

    Attributes:
        root: folder that stands for ``/``.
        environ: variables of the shell.
        package: returns the version of an installed Python package, or None.
        opens: tells whether the loader opens a library by its name.
        may_use: tells whether this user may read and write a device.
        which: returns the path of a program, or None.
        output: returns what a command prints.
    """

    root: Path = Path("/")
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    package: Callable[[str], str | None] = _package
    opens: Callable[[str], bool] = _opens
    may_use: Callable[[Path], bool] = _may_use
    which: Callable[[str], str | None] = shutil.which
    output: Callable[..., str] = _output

    def find(self, *patterns: str) -> list[Path]:
        """Return the paths below the root that patterns without a leading ``/`` match."""
        return [path for pattern in patterns for path in sorted(self.root.glob(pattern))]

    def shown(self, path: Path) -> str:
        """Return a path as the machine itself calls it."""
        return f"/{path.relative_to(self.root).as_posix()}"
