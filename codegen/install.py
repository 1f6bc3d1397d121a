"""Installs what a project generates below a prefix, for other projects to use.

In: a project's `Config` and a prefix. Out: what was written and taken away. Headers go to
``include/``, all else below ``share/``: neither depends on the machine. The compiled library,
which does, goes to ``lib/`` where it is asked for. What is installed is
rendered anew, so it is what the inputs say, whatever lies in the project's folder. A list
of the files stays with them, so that the next installation removes what is no longer made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from xiokv.codegen.config import Config, Output
from xiokv.codegen.errors import UsageError, XiokvError
from xiokv.codegen.files import held, read_text, stays_below
from xiokv.codegen.host_library import parts_for_prefix, place_parts
from xiokv.codegen.render.outputs import render_all
from xiokv.codegen.render.packages import INSTALLED, LIBRARY_DIR, render_host_pkgconfig
from xiokv.codegen.render.text import MARK
from xiokv.codegen.spec.load import load_spec
from xiokv.codegen.writer import Written, write

_LIST = f"{INSTALLED}/installed-files.txt"
_HEAD = f"# What `xiokv-gen install` put here, generated {MARK}; do not edit.\n"


def install(config: Config, prefix: Path, *, host: bool = False) -> Written:
    """Install the project's output below `prefix`, an absolute path without links.

    Args:
        config: the project.
        prefix: where.
        host: install the compiled library for C and its module, too; a prefix keeps them
            until it is installed into with them again.

    Raises:
        XiokvError: a file in the way belongs to somebody else, or cannot be written;
            nothing was written.
    """
    spec = load_spec(config)
    texts = {
        prefix / _place(path, config.output): text
        for path, text in render_all(spec, config.output).items()
    }
    if host:
        _check_emits_engine(config)
    if host or (prefix / LIBRARY_DIR).is_dir():
        more = render_host_pkgconfig(spec)
        texts |= {prefix / path: text for path, text in more.items()}
    prefix.mkdir(parents=True, exist_ok=True)
    with held(prefix):
        parts = parts_for_prefix(config, prefix) if host else ()
        text = write(prefix, texts, _installed(prefix), lambda names: _record(prefix, names))
        return Written((*text.changed, *place_parts(parts)), text.removed)


def _check_emits_engine(config: Config) -> None:
    if "engine" not in config.output.emit:
        raise UsageError(
            'the library needs the engine\'s headers: add "engine" to emit in [output] of'
            f" {config.root}/xiokv.toml, then run xiokv-gen build"
        )


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
