"""xiokv.lock: the same bytes for the same content, and nothing unknown read from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from xiokv.codegen.errors import ExitCode, XiokvError
from xiokv.codegen.lock import Lock, LockedFile, dump_lock, read_lock

FILES = (
    LockedFile("include/a.h", "https://h.example/c0/include/a.h", "11" * 32, 10, "MIT"),
    LockedFile("include/b.h", "https://h.example/c0/include/b.h", "22" * 32, 20, "BSD-3-Clause"),
)
LOCK = Lock("0.1.0", "https://h.example/r", "v1", "c0" * 20, FILES, "33" * 32, ("a", "b/c"))


def _write(folder: Path, text: str) -> Path:
    path = folder / "xiokv.lock"
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    assert read_lock(_write(tmp_path, dump_lock(LOCK))) == LOCK


def test_order_in_memory_does_not_show(tmp_path: Path) -> None:
    shuffled = replace(LOCK, files=FILES[::-1], owned=LOCK.owned[::-1])
    assert dump_lock(shuffled) == dump_lock(LOCK)


def test_no_lock_is_none(tmp_path: Path) -> None:
    assert read_lock(tmp_path / "xiokv.lock") is None


def test_a_newer_lock_names_the_version_to_install(tmp_path: Path) -> None:
    text = 'lock_version = 2\ngenerator = "0.9.3"\nnew = 1\n'
    with pytest.raises(XiokvError, match=r"lock_version 2 .* install xiokv 0\.9\.3 or newer"):
        read_lock(_write(tmp_path, text))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("owned", "owner", "unknown key 'owner'; the nearest is 'owned'"),
        ("bytes = 10", "bytes = '10'", "bytes must be an integer, not '10'"),
        ("ref =", "reff =", "the nearest is 'ref'"),
        ('commit = "', 'commit = 1 #"', "commit must be a string, not 1"),
        ("ir_sha256", "ir_sha", "lacks ir_sha256"),
    ],
)
def test_a_damaged_lock_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(XiokvError, match=message):
        read_lock(_write(tmp_path, dump_lock(LOCK).replace(old, new)))


def test_a_merge_conflict_is_an_error_and_not_a_traceback(tmp_path: Path) -> None:
    with pytest.raises(XiokvError, match=r"xiokv\.lock: not valid TOML"):
        read_lock(_write(tmp_path, "<<<<<<< HEAD\n" + dump_lock(LOCK)))


def test_a_lock_without_a_version_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(XiokvError, match="no lock_version; delete it and run xiokv-gen fetch"):
        read_lock(_write(tmp_path, dump_lock(LOCK).replace("lock_version = 1\n", "")))


@pytest.mark.parametrize("broken", ["more = 1\n", "<<<<<<< HEAD\n", "\0", "a = " + "9" * 5000])
def test_a_broken_lock_is_no_mistake_of_the_command_and_says_how_to_mend_it(
    tmp_path: Path, broken: str
) -> None:
    with pytest.raises(XiokvError, match=r"^xiokv\.lock") as caught:
        read_lock(_write(tmp_path, dump_lock(LOCK) + broken))
    assert caught.value.exit_code is ExitCode.FAILURE
    assert str(caught.value).endswith(
        "restore xiokv.lock from version control, or delete it and run xiokv-gen fetch"
    )


@pytest.mark.parametrize("path", ["/etc/passwd", "../mine.c", "a/../../b", "a\\u0000b", "a\\nb"])
def test_a_lock_owns_nothing_outside_the_project(tmp_path: Path, path: str) -> None:
    text = dump_lock(LOCK).replace('"b/c"', f'"{path}"')
    with pytest.raises(XiokvError, match=r"owned: .* is no path within the project"):
        read_lock(_write(tmp_path, text))
