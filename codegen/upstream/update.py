"""One fetch: from a ref to the spec file and the lock that would replace the present ones.

In: a project's `Config`, a ref and a place to read from. Out: an `Update`, in memory;
`apply` writes it. Nothing is written before everything has been fetched, parsed and
compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from xiokv.codegen import diff, ir
from xiokv.codegen.config import BUNDLED, Config
from xiokv.codegen.errors import UsageError, restorable
from xiokv.codegen.facts import Facts
from xiokv.codegen.files import discard_leftovers, replace_files
from xiokv.codegen.lock import Lock, LockedFile, dump_lock, license_of, read_lock
from xiokv.codegen.parse import parse_headers
from xiokv.codegen.parse.probe import prove_layout
from xiokv.codegen.spec.bundled import SHOWN, bundled_text
from xiokv.codegen.spec.load import read_ir, shown_path
from xiokv.codegen.upstream.refs import is_tag
from xiokv.codegen.upstream.snapshot import Snapshot, open_source, take, verify
from xiokv.codegen.upstream.source import Source
from xiokv.codegen.version import VERSION


@dataclass(frozen=True, slots=True)
class Update:
    """What a fetch found.

    Attributes:
        previous: the lock before; None on a first fetch.
        lock: the lock to write.
        ir_text: the spec file to write.
        changes: from the present spec file to this one; None where there is none yet.
        layout: one line that says what proved the layout.
        moved_tag: what is wrong where upstream gave the locked tag to another commit; else
            empty.
    """

    previous: Lock | None
    lock: Lock
    ir_text: str
    changes: diff.Changes | None
    layout: str
    moved_tag: str = ""

    @property
    def breaking(self) -> bool:
        """Tell whether it takes away or changes what users rely on."""
        return self.changes is not None and self.changes.breaking


def prepare(config: Config, ref: str, place: Path | None) -> Update:
    """Fetch, parse and compare; `place` is a folder to read in place of the network."""
    previous = read_lock(config.lock_path)
    found = _bundled(place) if ref == BUNDLED else _upstream(config, ref, place, previous)
    banner = found.banner
    lock = Lock(
        generator=VERSION,
        repository=banner.repository,
        ref=BUNDLED if ref == BUNDLED else banner.ref,
        commit=banner.commit,
        files=found.files,
        ir_sha256=ir.digest(found.ir_text),
        owned=previous.owned if previous else (),
    )
    changes = _changes(config, previous, lock, found.facts)
    return Update(previous, lock, found.ir_text, changes, found.layout, found.moved_tag)


def apply(
    config: Config, update: Update, more: Mapping[Path, str] = MappingProxyType({})
) -> tuple[Path, ...]:
    """Write the spec file, the lock, then what else is given; return what changed.

    The project's folder has to be held.
    """
    texts = {config.ir_path: update.ir_text, config.lock_path: dump_lock(update.lock), **more}
    discard_leftovers(config.root, (path.parent for path in texts))
    return replace_files(config.root, texts)


@dataclass(frozen=True, slots=True)
class _Found:
    facts: Facts
    ir_text: str
    banner: ir.Banner
    files: tuple[LockedFile, ...]
    layout: str
    moved_tag: str = ""


def _upstream(config: Config, ref: str, place: Path | None, previous: Lock | None) -> _Found:
    source = open_source(config.upstream, place)
    snapshot = take(source, config.upstream, ref)
    if previous:
        verify(snapshot, previous)
    facts = parse_headers(snapshot.texts)
    banner = ir.Banner(
        repository=snapshot.repository,
        ref=snapshot.ref,
        commit=snapshot.commit,
        license=license_of(snapshot.files),
    )
    layout = prove_layout(facts, snapshot.texts)
    moved = _moved_tag(snapshot, previous, source) if previous else ""
    return _Found(facts, ir.dump(facts, source=banner), banner, snapshot.files, layout, moved)


def _moved_tag(snapshot: Snapshot, previous: Lock, source: Source) -> str:
    """Say that a tag is at another commit than the locked one; a branch may be."""
    named = (previous.repository, previous.ref) == (snapshot.repository, snapshot.ref)
    commits = (previous.commit, snapshot.commit)
    if not named or not all(commits) or commits[0] == commits[1]:
        return ""
    if not is_tag(source.refs(), snapshot.ref):
        return ""
    return (
        f"upstream moved the tag {snapshot.ref}: xiokv.lock has commit {commits[0]}, the tag is"
        f" at {commits[1]} now; releases do not do that, so ask why before you commit this"
    )


def _bundled(place: Path | None) -> _Found:
    if place is not None:
        raise UsageError(
            f"--from {place} has no use with ref {BUNDLED!r}, the spec shipped in the package;"
            " name the upstream ref by --ref or in xiokv.toml"
        )
    text = bundled_text()
    return _Found(
        facts=ir.load(text, SHOWN),
        ir_text=text,
        banner=ir.load_banner(text, SHOWN),
        files=(),
        layout="layout: proved when the bundled spec was made",
    )


def _changes(
    config: Config, previous: Lock | None, lock: Lock, facts: Facts
) -> diff.Changes | None:
    """Tell what changed since the lock, or since the spec file where there is no lock."""
    if previous and previous.ir_sha256 == lock.ir_sha256:
        return diff.Changes(())
    text = read_ir(config)
    shown = shown_path(config, config.ir_path)
    if text is not None:
        with restorable(shown):
            return diff.compare(ir.load(text, shown), facts)
    if previous is None:
        return None
    unknown = "not there, so what changed since xiokv.lock was written cannot be told"
    return diff.Changes((diff.Change(shown, unknown, breaking=True),))
