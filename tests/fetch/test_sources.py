"""Git directories, work trees and folders: files as they were at the commit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from xiokv.codegen.config import Upstream
from xiokv.codegen.errors import MissingToolError, UsageError, XiokvError
from xiokv.codegen.upstream.content import header_text, spdx_id
from xiokv.codegen.upstream.gitdir import GitDirectory
from xiokv.codegen.upstream.snapshot import open_source, take

PATH = "include/spdk/nvme_kv.h"
BODY = b"/* SPDX-License-Identifier: BSD-3-Clause */\r\nint x;\n"
UPSTREAM = Upstream("https://h.example/r", "main", (PATH,), "https://h.example/{commit}/{path}")


def test_a_file_comes_byte_for_byte(repository: Any) -> None:
    commit = repository.commit({PATH: BODY})
    assert GitDirectory(repository.path).read(commit, PATH) == BODY


def test_a_work_tree_gives_the_commit_and_not_what_is_edited(
    repository: Any, tmp_path: Path
) -> None:
    repository.commit({PATH: BODY})
    tree = tmp_path / "tree"
    repository.git("worktree", "add", "--quiet", "--detach", str(tree), "main")
    (tree / PATH).write_bytes(b"int edited;")
    assert take(open_source(UPSTREAM, tree), UPSTREAM, "main").texts[PATH] == BODY.decode()


def test_a_folder_inside_a_repository_is_a_plain_folder(repository: Any, tmp_path: Path) -> None:
    repository.commit({"include/other.h": b"int x;"})
    tree = tmp_path / "tree"
    repository.git("worktree", "add", "--quiet", "--detach", str(tree), "main")
    (tree / "copy/include/spdk").mkdir(parents=True)
    (tree / "copy" / PATH).write_bytes(BODY)
    assert take(open_source(UPSTREAM, tree / "copy"), UPSTREAM, "main").commit == ""


def test_a_plain_folder_pins_nothing(tmp_path: Path) -> None:
    (tmp_path / PATH).parent.mkdir(parents=True)
    (tmp_path / PATH).write_bytes(BODY)
    snapshot = take(open_source(UPSTREAM, tmp_path), UPSTREAM, "main")
    assert (snapshot.commit, snapshot.ref, snapshot.files[0].url) == ("", "", "")


def test_a_place_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        open_source(UPSTREAM, tmp_path / "none")


@pytest.mark.parametrize("kind", ["git", "folder"])
def test_a_missing_file_names_the_first_release_that_has_it(
    repository: Any, tmp_path: Path, kind: str
) -> None:
    repository.commit({"include/other.h": b"int x;"})
    place = repository.path if kind == "git" else tmp_path
    with pytest.raises(XiokvError, match=f"has no {PATH}; .* since v26.05"):
        take(open_source(UPSTREAM, place), UPSTREAM, "main")


def test_a_missing_git_is_said_and_is_exit_code_5(
    repository: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match="install git"):
        GitDirectory(repository.path).resolve("main")


def test_a_directory_that_git_refuses_says_what_git_says(tmp_path: Path) -> None:
    (tmp_path / "objects").mkdir()
    (tmp_path / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    with pytest.raises(XiokvError, match="not a git repository"):
        take(open_source(UPSTREAM, tmp_path), UPSTREAM, "main")


def test_replaced_objects_and_inherited_git_variables_change_nothing(
    repository: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = repository.commit({PATH: BODY})
    other = repository.commit({PATH: b"int forged;"}, branch="other")
    repository.git("replace", commit, other)
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path))
    assert GitDirectory(repository.path).read(commit, PATH) == BODY


def test_a_partial_clone_runs_no_command_of_its_own_configuration(
    repository: Any, tmp_path: Path
) -> None:
    commit = repository.commit({PATH: BODY})
    blob = repository.git("rev-parse", f"main:{PATH}").decode().strip()
    ran = tmp_path / "ran"
    for key, value in {
        "core.repositoryformatversion": "1",
        "extensions.partialclone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::touch {ran}",
        "protocol.allow": "always",
    }.items():
        repository.git("config", key, value)
    (repository.path / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(XiokvError):
        GitDirectory(repository.path).read(commit, PATH)
    assert not ran.exists()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "empty file"),
        (b" \r\n\t", "empty file"),
        (b"404: Not Found", "'404: Not Found' in place of a C header"),
        (b"\n<!DOCTYPE html><html>", "in place of a C header"),
        (b"<?xml version='1.0'?>", "in place of a C header"),
        (b"int \xff;", "not UTF-8"),
    ],
)
def test_an_answer_that_is_no_header_is_refused(body: bytes, message: str) -> None:
    with pytest.raises(XiokvError, match=message):
        header_text("a.h", body)


@pytest.mark.parametrize(
    ("text", "spdx"),
    [
        ("/* SPDX-License-Identifier: BSD-3-Clause */", "BSD-3-Clause"),
        ("/*   SPDX-License-Identifier: BSD-3-Clause\r\n *  more\n */", "BSD-3-Clause"),
        ("// SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note\n", None),
        ("// SPDX-License-Identifier: MIT OR Apache-2.0", "MIT OR Apache-2.0"),
        ("int x;", "NOASSERTION"),
    ],
)
def test_the_license_is_read_from_the_header(text: str, spdx: str | None) -> None:
    assert spdx_id(text) == (spdx or "GPL-2.0-only WITH Linux-syscall-note")
