"""What every source of upstream files offers, and the one that reads a plain folder."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from xiokv.codegen.errors import XiokvError
from xiokv.codegen.upstream.refs import Refs


class NotFoundError(XiokvError):
    """The source has no such file."""


class Source(Protocol):
    """Resolves a ref and hands out files as they were at that commit."""

    def refs(self) -> Refs:
        """Return the refs that there are; none where nothing pins."""

    def resolve(self, ref: str) -> str:
        """Return the 40 digits of the commit that `ref` names; empty where nothing pins."""

    def read(self, commit: str, path: str) -> bytes:
        """Return one file; NotFoundError where the commit has none of that path."""


class Folder:
    """A plain folder: nothing says which commit its files are from."""

    def __init__(self, root: Path) -> None:
        """Read below `root`."""
        self._root = root

    def refs(self) -> Refs:
        """Return no refs: a folder has none."""
        return {}

    def resolve(self, ref: str) -> str:
        """Return the empty string: a folder is at no commit."""
        return ""

    def read(self, commit: str, path: str) -> bytes:
        """Return the file at `path` below the folder."""
        try:
            return (self._root / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            raise NotFoundError(f"{self._root} has no {path}") from None
        except OSError as error:
            raise XiokvError(f"{path} cannot be read: {error.strerror}") from error
