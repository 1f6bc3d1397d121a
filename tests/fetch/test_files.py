"""Files appear whole or not at all, and only where their content changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from xiokv.codegen.errors import XiokvError
from xiokv.codegen.files import replace_files


def test_texts_are_written_in_utf_8_with_the_line_ends_they_have(tmp_path: Path) -> None:
    path = tmp_path / "new/deep/a"
    assert replace_files({path: "é\r\n\n"}) == (path,)
    assert path.read_bytes() == b"\xc3\xa9\r\n\n"


def test_what_is_there_already_is_left_alone(tmp_path: Path) -> None:
    same, other = tmp_path / "same", tmp_path / "other"
    replace_files({same: "1", other: "1"})
    before = same.stat()
    assert replace_files({same: "1", other: "2"}) == (other,)
    assert (same.stat().st_ino, same.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_failure_changes_no_file_and_leaves_none_behind(tmp_path: Path) -> None:
    first, blocked = tmp_path / "first", tmp_path / "file/below"
    replace_files({first: "old", tmp_path / "file": ""})
    with pytest.raises(XiokvError, match=r"cannot write .*file"):
        replace_files({first: "new", blocked: "new"})
    assert first.read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "first"]


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    replace_files({tmp_path / "new": "x"})
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_link_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old", encoding="utf-8")
    (tmp_path / "link").symlink_to("target")
    replace_files({tmp_path / "link": "new"})
    assert (tmp_path / "target").read_text(encoding="utf-8") == "old"
    assert (tmp_path / "link").read_text(encoding="utf-8") == "new"
