"""What in a project differs from what its inputs render to.

In: a project's `Config`. Out: findings, in a stable order. Everything is rendered in memory;
nothing is written, and only files that the inputs render or the lock lists are looked at.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from xiokv.codegen.config import Config
from xiokv.codegen.errors import XiokvError
from xiokv.codegen.lock import Lock
from xiokv.codegen.render.outputs import render_all
from xiokv.codegen.spec.load import (
    former_ir,
    load_spec,
    lock_fault,
    lock_of,
    read_ir,
    shown_path,
    still_at,
)

_DIFF_LINES = 40
_BUILD = "xiokv-gen build"
_FETCH = "xiokv-gen fetch"


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference.

    Attributes:
        path: the file, from the project's folder.
        kind: what is wrong with it.
        message: what was seen.
        fix: the command that mends it.
        line: first line that differs; 0 where there is none.
        diff: unified diff from the file to what it should be, of bounded length.
    """

    path: str
    kind: Literal["changed", "missing", "extra"]
    message: str
    fix: str
    line: int = 0
    diff: str = ""


def notes(config: Config, version: str) -> Iterator[str]:
    """Yield what a reader of the findings should know first."""
    lock = lock_of(config)
    if lock.generator != version:
        yield (
            f"xiokv.lock was written by xiokv {lock.generator} and {version} is running;"
            f" install that version, or run {_BUILD} to move to this one"
        )
    named = config.upstream.ref
    if lock.ref and lock.ref != named:
        yield (
            f"xiokv.toml names ref {named!r} and xiokv.lock was fetched at {lock.ref!r}; to keep"
            f' {lock.ref}, write ref = "{lock.ref}" into xiokv.toml; to have {named}, run {_FETCH}'
        )
    elif not lock.ref:
        yield (
            f"xiokv.toml names ref {named!r} and xiokv.lock was fetched from a plain folder,"
            f" which pins nothing; run {_FETCH} to have {named}"
        )


def find(config: Config) -> list[Finding]:
    """Compare the spec file with the lock, then every rendered file with the folder."""
    lock = lock_of(config)
    shown = shown_path(config, config.ir_path)
    text = read_ir(config)
    if text is None:
        former = former_ir(config, lock)
        if former is not None:
            return [Finding(shown, "missing", still_at(config, former), _BUILD)]
        return [Finding(shown, "missing", "the spec file is not there", _FETCH)]
    if fault := lock_fault(text, shown, lock):
        return [Finding(shown, "changed", fault, _FETCH)]
    texts = {
        shown_path(config, path): text
        for path, text in render_all(load_spec(config), config.output).items()
    }
    found = [*_compare(config.root, texts), *_extra(config.root, texts, lock)]
    return [*found, *_unlisted(config.root, texts, lock)]


def _compare(root: Path, texts: dict[str, str]) -> Iterator[Finding]:
    for name, text in sorted(texts.items()):
        path = root / name
        if not path.is_file():
            yield Finding(name, "missing", "rendered, but not there", _BUILD)
            continue
        try:
            present = path.read_bytes()
        except OSError as error:
            raise XiokvError(f"{name}: cannot be read: {error.strerror}") from error
        if present != text.encode():
            seen = present.decode("utf-8", "backslashreplace")
            line, diff = _diff(name, seen, text)
            yield Finding(name, "changed", "not what the inputs render to", _BUILD, line, diff)


def _extra(root: Path, texts: dict[str, str], lock: Lock) -> Iterator[Finding]:
    for name in sorted(set(lock.owned) - texts.keys()):
        if (root / name).is_file():
            yield Finding(name, "extra", "written by an earlier build, no longer rendered", _BUILD)


def _unlisted(root: Path, texts: dict[str, str], lock: Lock) -> Iterator[Finding]:
    """Tell where the lock's list differs and no other finding says why."""
    differing = set(lock.owned) ^ texts.keys()
    odd = [n for n in sorted(differing) if (root / n).is_file() == (n in texts)]
    if odd:
        message = f"its list of generated files is wrong about {', '.join(odd)}"
        yield Finding("xiokv.lock", "changed", message, _BUILD)


def _diff(name: str, present: str, rendered: str) -> tuple[int, str]:
    """Return the first differing line and the head of a unified diff."""
    old, new = present.splitlines(keepends=True), rendered.splitlines(keepends=True)
    pairs = enumerate(zip(old, new, strict=False), 1)
    first = next((n for n, (a, b) in pairs if a != b), min(len(old), len(new)) + 1)
    lines = list(difflib.unified_diff(old, new, name, f"{name} (rendered)"))
    text = "".join(line if line.endswith("\n") else line + "\n" for line in lines[:_DIFF_LINES])
    left = len(lines) - _DIFF_LINES
    return first, text + (f"... {left} more lines of difference\n" if left > 0 else "")
