"""What was acknowledged, and whether a store still has it: a journal, and its check.

A writer says what it is about to do, does it, and says what was acknowledged; each line is on
disk before the writer goes on. In: such a journal, and what is there now. Out: complaints.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

#: A key and the value that it gets; None is for a Delete.
Change = tuple[bytes, bytes | None]

_INTENT, _ACKNOWLEDGED = "intent", "acknowledged"
_ABSENT = "absent"


def digest(value: bytes | None) -> str:
    """Return what stands for a value in a journal; None is a key that is not there."""
    return _ABSENT if value is None else hashlib.sha256(value).hexdigest()


class Journal:
    """Written by one process; it may be killed at any time.

    Args:
        path: file to append to.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def intend(self, changes: Iterable[Change]) -> None:
        """Say which value each key is about to get."""
        self._write(_INTENT, changes)

    def acknowledge(self, changes: Iterable[Change]) -> None:
        """Say which of the intended changes were acknowledged."""
        self._write(_ACKNOWLEDGED, changes)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _write(self, what: str, changes: Iterable[Change]) -> None:
        lines = [f"{what} {key.hex()} {digest(value)}\n" for key, value in changes]
        text = "".join(lines).encode("ascii")
        while text:
            text = text[os.write(self._file, text) :]
        os.fsync(self._file)


@dataclass
class Allowed:
    """What a key may have now.

    Attributes:
        acknowledged: digest of what it had last, for certain.
        later: digests of changes after that, each of which may have taken effect.
    """

    acknowledged: str = _ABSENT
    later: set[str] = field(default_factory=set)


def replay(path: Path) -> dict[bytes, Allowed]:
    """Return what each key of a journal may have; a line that was not finished is none."""
    keys: dict[bytes, Allowed] = {}
    for line in path.read_text(encoding="ascii").split("\n")[:-1]:
        what, name, said = line.split(" ")
        allowed = keys.setdefault(bytes.fromhex(name), Allowed())
        if what == _ACKNOWLEDGED:
            allowed.acknowledged = said
            allowed.later.clear()
        else:
            allowed.later.add(said)
    return keys


def check(
    path: Path, read: Callable[[Sequence[bytes]], Sequence[bytes | None]]
) -> tuple[list[str], int]:
    """Compare a journal with what is there.

    Args:
        path: the journal.
        read: returns what each key has now, None for a key that is not there.

    Returns:
        A complaint for each key that has what it may not have, and the number of keys that
        have, by an acknowledgement, to be there.
    """
    keys = replay(path)
    complaints = []
    for (key, allowed), value in zip(keys.items(), read(list(keys)), strict=True):
        if digest(value) not in {allowed.acknowledged, *allowed.later}:
            complaints.append(
                f"{key.hex()}: {'absent' if value is None else f'{len(value)} bytes'},"
                f" {digest(value)}; acknowledged was {allowed.acknowledged}, and"
                f" {sorted(allowed.later)} may have come after it"
            )
    return complaints, sum(
        not allowed.later and allowed.acknowledged != _ABSENT for allowed in keys.values()
    )
