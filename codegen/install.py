"""Installs what a project generates below a prefix, for other projects to use.

In: a project's `Config` and a prefix. Out: what was written and taken away. Headers go to
``include/``, all else below ``share/``: neither depends on the machine. What is installed is
rendered anew, so it is what the inputs say, whatever lies in the project's folder. A list
of the files stays with them, so that the next installation removes what is no longer made.
Projects whose packages have different names lie side by side, each with a list of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from xiokv.codegen.config import Config, Output
from xiokv.codegen.errors import XiokvError
from xiokv.codegen.files import held, read_text, stays_below
from xiokv.codegen.render.outputs import render_all
from xiokv.codegen.render.packages import installed_dir
from xiokv.codegen.render.text import MARK
from xiokv.codegen.spec.load import load_spec
from xiokv.codegen.writer import Written, write

_LIST = "installed-files.txt"
_HEAD = f"# What `xiokv-gen install` put here, generated {MARK}; do not edit.\n"
_SPEC = "# spec "


@dataclass(frozen=True, slots=True)
class Installed:
    """What an installation did.

    Attributes:
        files: what was written and taken away.
        replaced: hash of another spec, whose files these took the place of; or empty.
    """

    files: Written
    replaced: str


@dataclass(frozen=True, slots=True)
class _List:
    """What an earlier installation wrote, from the prefix, and from which spec."""

    spec: str = ""
    names: tuple[str, ...] = ()


def install(config: Config, prefix: Path) -> Installed:
    """Install the project's output below `prefix`, an absolute path without links.

    Raises:
        XiokvError: a file in the way belongs to somebody else, or cannot be written;
            nothing was written.
    """
    spec = load_spec(config)
    texts = {
        prefix / _place(path, config.output): text
        for path, text in render_all(spec, config.output).items()
    }
    path = prefix / installed_dir(config.output.names) / _LIST

    def record(names: Iterable[str]) -> Mapping[Path, str]:
        head = f"{_HEAD}{_SPEC}{spec.identity.spec}\n"
        return {path: head + "".join(f"{name}\n" for name in sorted(names))}

    prefix.mkdir(parents=True, exist_ok=True)
    with held(prefix):
        before = _read(path)
        files = write(prefix, texts, before.names, record)
    return Installed(files, before.spec if before.spec != spec.identity.spec else "")


def _place(path: Path, output: Output) -> PurePosixPath:
    """Return where below a prefix a generated file goes."""
    below = PurePosixPath(installed_dir(output.names))
    if path == output.python:
        return below / "python" / path.name
    relative = PurePosixPath(path.relative_to(output.dir).as_posix())
    as_it_is = relative.parts[0] in ("include", "share")
    return relative if as_it_is else below / relative


def _read(path: Path) -> _List:
    text = read_text(path, str(path))
    if text is None:
        return _List()
    head, *names = text.splitlines() or [""]
    spec = names.pop(0).removeprefix(_SPEC) if names and names[0].startswith(_SPEC) else ""
    if f"{head}\n" != _HEAD or not all(map(stays_below, names)):
        raise XiokvError(f"{path}: not a list that xiokv-gen install wrote; move it, or mend it")
    return _List(spec, tuple(names))
