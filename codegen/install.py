"""Installs what a project generates below a prefix, and takes it away again.

In: a project's `Config` and a prefix. Out: what was written and taken away. Headers go to
``include/``, all else below ``share/``: neither depends on the machine. What is installed is
rendered anew, so it is what the inputs say, whatever lies in the project's folder. A list
of the files stays with them, so that the next installation removes what is no longer made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from xiokv.codegen.config import Config, Output
from xiokv.codegen.errors import UsageError, XiokvError
from xiokv.codegen.files import held, read_text, stays_below
from xiokv.codegen.render.outputs import render_all
from xiokv.codegen.render.packages import INSTALLED
from xiokv.codegen.render.text import MARK
from xiokv.codegen.spec.load import load_spec
from xiokv.codegen.writer import Written, write

_LIST = f"{INSTALLED}/installed-files.txt"
_HEAD = f"# What `xiokv-gen install` put here, generated {MARK}; do not edit.\n"


def install(config: Config, prefix: Path) -> Written:
    """Install the project's output below `prefix`, an absolute path without links.

    Raises:
        XiokvError: a file in the way belongs to somebody else, or cannot be written;
            nothing was written.
    """
    texts = {
        prefix / _place(path, config.output): text
        for path, text in render_all(load_spec(config), config.output).items()
    }
    prefix.mkdir(parents=True, exist_ok=True)
    with held(prefix):
        return write(prefix, texts, _installed(prefix), lambda names: _record(prefix, names))


def uninstall(prefix: Path) -> Written:
    """Take away what was installed below `prefix`, its list, and folders that become empty.

    What no longer looks generated stays.

    Raises:
        UsageError: nothing was installed there.
    """
    names = _installed(prefix)
    if not (prefix / _LIST).is_file():
        raise UsageError(f"{prefix} has no {_LIST}: xiokv-gen install put nothing there")
    with held(prefix):
        removed = write(prefix, {}, names, lambda left: _record(prefix, left)).removed
        (prefix / _LIST).unlink()
    for name in sorted({*names, _LIST}):
        _remove_empty(prefix, (prefix / name).parent)
    return Written((), removed)


def _remove_empty(prefix: Path, folder: Path) -> None:
    """Remove a folder below `prefix`, and those above it, as far as they are empty."""
    while folder != prefix:
        try:
            folder.rmdir()
        except OSError:  # not empty, or gone with an earlier file
            if folder.exists():
                return
        folder = folder.parent


def _place(path: Path, output: Output) -> PurePosixPath:
    """Return where below a prefix a generated file goes."""
    if path == output.python:
        return PurePosixPath(INSTALLED, "python", path.name)
    relative = PurePosixPath(path.relative_to(output.dir).as_posix())
    as_it_is = relative.parts[0] in ("include", "share")
    return relative if as_it_is else INSTALLED / relative


def _installed(prefix: Path) -> tuple[str, ...]:
    """Return the files that an earlier installation wrote, from the prefix."""
    path = prefix / _LIST
    text = read_text(path, str(path))
    if text is None:
        return ()
    head, *names = text.splitlines() or [""]
    if f"{head}\n" != _HEAD or not all(map(stays_below, names)):
        raise XiokvError(f"{path}: not a list that xiokv-gen install wrote; move it, or mend it")
    return tuple(names)


def _record(prefix: Path, names: Iterable[str]) -> Mapping[Path, str]:
    return {prefix / _LIST: _HEAD + "".join(f"{name}\n" for name in sorted(names))}
