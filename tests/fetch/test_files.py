"""Files appear whole or not at all, and only where their content changes."""

from __future__ import annotations

import fcntl
import os
import pty
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from xiokv.codegen.errors import XiokvError
from xiokv.codegen.files import held, read_text, replace_files

# Writes a and b, and is gone at the step given: 0 and 1 open a file, 2 and 3 move one in.
KILLED = """
import os, sys
from pathlib import Path
from xiokv.codegen.files import replace_files
folder, left = Path(sys.argv[1]), int(sys.argv[2])
def dying(step):
    def call(*arguments, **named):
        global left
        if not left:
            os._exit(9)
        left -= 1
        return step(*arguments, **named)
    return call
Path.open, Path.replace = dying(Path.open), dying(Path.replace)
replace_files(folder, {folder / "a": "new", folder / "b": "new"})
"""


def test_texts_are_written_in_utf_8_with_the_line_ends_they_have(tmp_path: Path) -> None:
    path = tmp_path / "new/deep/a"
    assert replace_files(tmp_path, {path: "é\r\n\n"}) == (path,)
    assert path.read_bytes() == b"\xc3\xa9\r\n\n"


def test_what_is_there_already_is_left_alone(tmp_path: Path) -> None:
    same, other = tmp_path / "same", tmp_path / "other"
    replace_files(tmp_path, {same: "1", other: "1"})
    before = same.stat()
    assert replace_files(tmp_path, {same: "1", other: "2"}) == (other,)
    assert (same.stat().st_ino, same.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_failure_changes_no_file_and_leaves_none_behind(tmp_path: Path) -> None:
    first, blocked = tmp_path / "first", tmp_path / "file/below"
    replace_files(tmp_path, {first: "old", tmp_path / "file": ""})
    with pytest.raises(XiokvError, match=r"cannot write .*file"):
        replace_files(tmp_path, {first: "new", blocked: "new"})
    assert first.read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "first"]


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    replace_files(tmp_path, {tmp_path / "new": "x"})
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_link_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old", encoding="utf-8")
    (tmp_path / "link").symlink_to("target")
    replace_files(tmp_path, {tmp_path / "link": "new"})
    assert (tmp_path / "target").read_text(encoding="utf-8") == "old"
    assert (tmp_path / "link").read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("step", range(4))
def test_a_run_that_is_killed_leaves_whole_files_and_nothing_for_long(
    tmp_path: Path, step: int
) -> None:
    texts = {tmp_path / "a": "old", tmp_path / "b": "old"}
    replace_files(tmp_path, texts)
    died = subprocess.run([sys.executable, "-c", KILLED, tmp_path, str(step)], check=False)
    assert died.returncode == 9
    assert {path.read_text(encoding="utf-8") for path in texts} <= {"old", "new"}
    replace_files(tmp_path, dict.fromkeys(texts, "newest"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_a_link_where_the_first_copy_goes_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old", encoding="utf-8")
    (tmp_path / ".b.xiokv-tmp").symlink_to("a")
    replace_files(tmp_path, {tmp_path / "b": "new"})
    assert (tmp_path / "a").read_text(encoding="utf-8") == "old"
    assert not (tmp_path / "b").is_symlink()


def test_a_folder_that_is_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(XiokvError, match="loop/a: a link in this path leads out of"):
        replace_files(tmp_path, {tmp_path / "loop" / "a": "text"})


def test_a_folder_that_is_a_link_to_elsewhere_is_refused(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "link").symlink_to(outside)
    with pytest.raises(XiokvError, match="link/deep/a: a link in this path leads out of"):
        replace_files(root, {root / "link/deep/a": "x", root / "b": "x"})
    assert not any(outside.iterdir())
    assert not (root / "b").exists()


def test_the_file_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("xiokv.codegen.files._write_new", full)
    with pytest.raises(XiokvError, match=r"cannot write .*/a: No space left on device"):
        replace_files(tmp_path, {tmp_path / "a": "x"})


def test_a_held_folder_keeps_other_runs_out(tmp_path: Path) -> None:
    other = os.open(tmp_path, os.O_RDONLY)
    try:
        with held(tmp_path), pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(other)


def test_a_run_that_waits_for_another_says_so_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = pty.openpty()
    other = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    said: list[str] = []

    def read_then_let_go() -> None:
        said.append(os.read(ours, 1000).decode())
        os.close(other)

    reader = Thread(target=read_then_let_go)
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        reader.start()
        with held(tmp_path):
            reader.join()
    os.close(ours)
    assert said == [f"waiting for another xiokv-gen that writes into {tmp_path}\r\n"]


def test_a_pipe_in_the_place_of_a_file_holds_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(XiokvError, match="shown: cannot be read: not a regular file"):
        read_text(tmp_path / "pipe", "shown")
    replace_files(tmp_path, {tmp_path / "pipe": "x"})
    assert read_text(tmp_path / "pipe", "shown") == "x"


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfx")
    assert read_text(tmp_path / "a", "a") == "x"


def test_what_is_not_there_has_no_text(tmp_path: Path) -> None:
    assert read_text(tmp_path / "a", "a") is None
