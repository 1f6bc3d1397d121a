"""The check of what was acknowledged, on journals that say what is to be found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from .acknowledged import Journal, check

KEY = b"key"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def complaints(path: Path, there: bytes | None) -> list[str]:
    """Return what is wrong when the one key has a value, or none."""

    def read(keys: Sequence[bytes]) -> list[bytes | None]:
        assert list(keys) == [KEY]
        return [there]

    return check(path, read)[0]


def write(path: Path, *, acknowledged: bytes | None, later: Sequence[bytes | None] = ()) -> None:
    journal = Journal(path)
    for value in (b"first", acknowledged):
        journal.intend([(KEY, value)])
        journal.acknowledge([(KEY, value)])
    for value in later:
        journal.intend([(KEY, value)])
    journal.close()


@pytest.mark.parametrize("there", [None, b"first", b"secon", b"second\0"])
def test_anything_but_what_was_acknowledged_is_wrong(path: Path, there: bytes | None) -> None:
    write(path, acknowledged=b"second")
    (complaint,) = complaints(path, there)
    assert complaint.startswith(f"{KEY.hex()}: {'absent' if there is None else len(there)}")
    assert complaints(path, b"second") == []


def test_a_change_without_an_acknowledgement_was_made_or_not(path: Path) -> None:
    write(path, acknowledged=b"second", later=[b"third", None])
    for there in (b"second", b"third", None):
        assert complaints(path, there) == []
    for there in (b"first", b"thi"):
        assert len(complaints(path, there)) == 1


def test_a_key_that_was_deleted_stays_away(path: Path) -> None:
    write(path, acknowledged=None)
    assert complaints(path, None) == []
    assert len(complaints(path, b"first")) == 1


def test_a_line_that_was_not_finished_is_none(path: Path) -> None:
    write(path, acknowledged=b"second")
    with path.open("a", encoding="ascii") as file:
        file.write(f"acknowledged {KEY.hex()} absent")
    assert complaints(path, b"second") == []
