"""The upstream files at one commit, as texts and as entries for the lock.

In: a source and what xiokv.toml asks for. Out: a `Snapshot`, which is the same for the
same commit whichever source the bytes came from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from xiokv.codegen.config import Upstream
from xiokv.codegen.errors import UsageError, XiokvError
from xiokv.codegen.lock import Lock, LockedFile
from xiokv.codegen.upstream.content import header_text, spdx_id
from xiokv.codegen.upstream.gitdir import GitDirectory, find_git_dir
from xiokv.codegen.upstream.source import Folder, NotFoundError, Source
from xiokv.codegen.upstream.web import Web

FIRST_WITH_KV = "v26.05"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was fetched. `commit` is empty where a plain folder was read."""

    repository: str
    ref: str
    commit: str
    files: tuple[LockedFile, ...]
    texts: Mapping[str, str]


def open_source(upstream: Upstream, place: Path | None) -> Source:
    """Return the source at `place`, or the upstream's own addresses where it is None."""
    if place is None:
        return Web(upstream)
    if not place.is_dir():
        raise UsageError(f"--from {place}: no such folder")
    git_dir = find_git_dir(place)
    return Folder(place) if git_dir is None else GitDirectory(git_dir)


def take(source: Source, upstream: Upstream, ref: str) -> Snapshot:
    """Read every file that the project asks for, all at one commit."""
    commit = source.resolve(ref)
    bodies = {path: _read(source, ref, commit, path) for path in sorted(upstream.files)}
    texts = {path: header_text(path, body) for path, body in bodies.items()}
    files = tuple(
        LockedFile(
            path=path,
            url=upstream.url_of(commit, path),
            sha256=hashlib.sha256(body).hexdigest(),
            bytes=len(body),
            spdx=spdx_id(texts[path]),
        )
        for path, body in bodies.items()
    )
    return Snapshot(upstream.repository, ref if commit else "", commit, files, texts)


def verify(snapshot: Snapshot, lock: Lock) -> None:
    """Refuse a snapshot of the locked commit whose bytes are not the locked ones."""
    pinned = (lock.repository, lock.commit)
    if not lock.commit or pinned != (snapshot.repository, snapshot.commit):
        return
    for entry in snapshot.files:
        locked = lock.file(entry.path)
        if locked and locked.sha256 != entry.sha256:
            raise XiokvError(
                f"{entry.path}: SHA-256 {entry.sha256}, but xiokv.lock holds {locked.sha256}"
                f" for the same commit {lock.commit}; the source does not serve what was locked"
            )


def _read(source: Source, ref: str, commit: str, path: str) -> bytes:
    try:
        return source.read(commit, path)
    except NotFoundError as error:
        raise XiokvError(
            f"{ref}: {error}; SPDK has NVMe-KV definitions since {FIRST_WITH_KV}"
        ) from error
