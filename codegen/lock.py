"""xiokv.lock: which upstream bytes the spec file came from and which files build owns.

In and out: the file as TOML, always the same bytes for the same content. `fetch` writes
everything but `owned`, which `build` keeps.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import tomli_w

from xiokv.codegen.errors import XiokvError, restorable
from xiokv.codegen.files import read_text, stays_below
from xiokv.codegen.tomlfile import Document, Table
from xiokv.codegen.version import VERSION

LOCK_VERSION = 1
_HEAD = "# Written by xiokv-gen; do not edit.\n"


@dataclass(frozen=True, slots=True)
class LockedFile:
    """One upstream file. `url` is empty where no commit pins it."""

    path: str
    url: str
    sha256: str
    bytes: int
    spdx: str


@dataclass(frozen=True, slots=True)
class Lock:
    """The content of a lock file.

    Attributes:
        generator: version of xiokv that wrote it.
        repository: URL of the upstream repository.
        ref: the ref that was asked for.
        commit: what it resolved to; empty where a plain folder was read.
        files: the upstream files, by path; none where the bundled spec is used.
        ir_sha256: SHA-256 of the spec file.
        owned: paths, from the project's folder, of the files that build has written.
    """

    generator: str
    repository: str
    ref: str
    commit: str
    files: tuple[LockedFile, ...]
    ir_sha256: str
    owned: tuple[str, ...] = ()

    def file(self, path: str) -> LockedFile | None:
        """Return the entry of one upstream path, or None."""
        return next((entry for entry in self.files if entry.path == path), None)


def license_of(files: Iterable[LockedFile]) -> str:
    """Return the SPDX expression for files taken together."""
    return " AND ".join(sorted({entry.spdx for entry in files}))


def read_lock(path: Path) -> Lock | None:
    """Read a lock file; None where there is none."""
    with restorable(path.name):
        text = read_text(path, path.name)
        if text is None:
            return None
        document = Document(text, path.name)
    root = document.root
    _check_lock_version(root.integer("lock_version", 0), root.string("generator", "?"))
    with restorable(path.name):
        lock = _lock(root)
        document.close()
    return lock


def _lock(root: Table) -> Lock:
    upstream = root.table("upstream")
    return Lock(
        generator=root.string("generator"),
        repository=upstream.string("repository"),
        ref=upstream.string("ref"),
        commit=upstream.string("commit"),
        files=tuple(_read_file(table) for table in root.tables("file")),
        ir_sha256=root.string("ir_sha256"),
        owned=_owned(root),
    )


def dump_lock(lock: Lock) -> str:
    """Return the text of a lock file, every list sorted."""
    document = {
        "lock_version": LOCK_VERSION,
        "generator": lock.generator,
        "ir_sha256": lock.ir_sha256,
        "owned": sorted(lock.owned),
        "upstream": {"repository": lock.repository, "ref": lock.ref, "commit": lock.commit},
        "file": [asdict(entry) for entry in sorted(lock.files, key=lambda f: f.path)],
    }
    return _HEAD + tomli_w.dumps(document)


def _check_lock_version(found: int, generator: str) -> None:
    if found < 1:
        raise XiokvError("xiokv.lock states no lock_version; delete it and run xiokv-gen fetch")
    if found > LOCK_VERSION:
        raise XiokvError(
            f"xiokv.lock has lock_version {found} and this xiokv ({VERSION}) reads up to"
            f" {LOCK_VERSION}; install xiokv {generator} or newer"
        )


def _owned(root: Table) -> tuple[str, ...]:
    owned = root.strings("owned")
    for name in owned:
        if not stays_below(name):
            root.fault("owned", f"owned: {name!r} is no path within the project")
    return owned


def _read_file(table: Table) -> LockedFile:
    return LockedFile(
        path=table.string("path"),
        url=table.string("url"),
        sha256=table.string("sha256"),
        bytes=table.integer("bytes"),
        spdx=table.string("spdx"),
    )
