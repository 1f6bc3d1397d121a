"""Writing files so that nobody ever sees half of one.

In: texts by path. Out: the paths whose content changed. Every text is first written
beside its place; only when all of them are there is one after the other moved in.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from xiokv.codegen.errors import XiokvError


def replace_files(texts: Mapping[Path, str]) -> tuple[Path, ...]:
    """Write the texts that differ from what is there; they are moved in in their order."""
    changed = {path: text for path, text in texts.items() if _content(path) != text.encode()}
    staged: dict[Path, Path] = {}
    try:
        for path, text in changed.items():
            staged[path] = _beside(path)
            _write_new(staged[path], text)
        for path, temporary in staged.items():
            temporary.replace(path)
    except OSError as error:
        raise XiokvError(f"cannot write {error.filename}: {error.strerror}") from error
    finally:
        for temporary in staged.values():
            with suppress(OSError):  # moved in, or never made
                temporary.unlink()
    return tuple(changed)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{token_hex(4)}.tmp")


def _write_new(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as stream:
        stream.write(text.encode())
