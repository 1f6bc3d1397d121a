"""Whether upstream has a newer release than the locked one, and what it changes.

In: a project's `Config` and a place to read from. Out: a `Standing`; nothing is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xiokv.codegen.config import BUNDLED, Config
from xiokv.codegen.diff import Changes
from xiokv.codegen.errors import UsageError, XiokvError
from xiokv.codegen.lock import Lock
from xiokv.codegen.spec.load import lock_of, locked_banner
from xiokv.codegen.upstream.releases import Release, release_number, releases
from xiokv.codegen.upstream.snapshot import open_source
from xiokv.codegen.upstream.update import prepare


@dataclass(frozen=True, slots=True)
class Standing:
    """How a lock stands to the newest release.

    Attributes:
        repository: the upstream that was asked.
        ref: the ref that the locked definitions are from; empty for a plain folder.
        commit: their commit; empty for a plain folder.
        newest: the newest release.
        changes: what it changes; None where the lock is up to date.
        note: what a reader should know besides; mostly empty.
    """

    repository: str
    ref: str
    commit: str
    newest: Release
    changes: Changes | None
    note: str = ""

    @property
    def outdated(self) -> bool:
        """Whether a newer release is there."""
        return self.changes is not None

    @property
    def breaking(self) -> bool:
        """Whether the newer release breaks users."""
        return self.changes is not None and self.changes.breaking


def standing(config: Config, place: Path | None, candidates: bool) -> Standing:
    """Compare the lock with the newest release, or candidate where these count.

    Raises:
        XiokvError: the repository has no releases, or the newest one cannot be read.
    """
    lock = lock_of(config)
    ref = locked_banner(config, lock).ref if lock.ref == BUNDLED else lock.ref
    source = open_source(config.upstream, place)
    refs = source.refs()
    if place is not None and not refs:
        raise UsageError(
            f"--from {place} has no tags; give a git directory that has those of the upstream"
        )
    known = releases(refs)
    newest = _newest(known, candidates, config.upstream.repository)
    about = (config.upstream.repository, ref, lock.commit, newest)
    if _is_current(lock.commit, ref, known, newest):
        return Standing(*about, None)
    changes = prepare(config, newest.tag, place).changes or Changes(())
    note = _note(ref, lock, known)
    if note and not changes.found:
        return Standing(*about, None, f"{note}; its definitions are those of {newest.tag}")
    return Standing(*about, changes, note)


def _newest(known: Sequence[Release], candidates: bool, repository: str) -> Release:
    wanted = [release for release in known if candidates or not release.is_candidate]
    if wanted:
        return wanted[-1]
    shapes = "v26.05 or v26.05-rc1" if candidates else "v26.05"
    raise XiokvError(
        f"{repository} has no tag of a release, such as {shapes}; is [upstream] repository right?"
    )


def _is_current(commit: str, ref: str, known: Sequence[Release], newest: Release) -> bool:
    """Tell whether the locked commit is the newest release, or a later candidate or release."""
    locked = [release for release in known if release.commit == commit]
    if any(release.numbers >= newest.numbers for release in locked):
        return True
    # Its tag may be gone, or the lock may be ahead of a copy that has not all tags.
    number = release_number(ref)
    return not locked and number is not None and number > newest.numbers


def _note(ref: str, lock: Lock, known: Sequence[Release]) -> str:
    """Return what is odd about the locked commit."""
    if not lock.commit:
        return "xiokv.lock states no commit: the definitions were read from a plain folder"
    if any(release.commit == lock.commit for release in known):
        return ""
    if any(release.tag == ref for release in known):
        return f"upstream moved {ref}: it is another commit than the locked {lock.commit}"
    return f"the locked commit {lock.commit} is no release, and may be newer than one"
