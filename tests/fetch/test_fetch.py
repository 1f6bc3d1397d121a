"""xiokv-gen fetch: the spec file and the lock move together, or not at all."""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from xiokv.codegen.cli import main
from xiokv.codegen.lock import read_lock

SPEC, KV = "include/spdk/nvme_spec.h", "include/spdk/nvme_kv.h"
HEADERS = Path(__file__).parents[1] / "data/headers"
IR, LOCK = "generated/spec/nvme_kv.json", "xiokv.lock"
# A text of nvme_spec.h and another in its place: an addition.
ADDED = (b"COMPRESS = 1 << 2,", b"COMPRESS = 1 << 2,\n\tSPDK_NVME_KV_STORE_OPT_NEW = 1 << 3,")


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str


Fetch = Callable[..., Ran]


def _headers() -> dict[str, bytes]:
    return {path: (HEADERS / path).read_bytes() for path in (SPEC, KV)}


def _changed(old: bytes, new: bytes) -> dict[str, bytes]:
    """Return the headers with one text of nvme_spec.h replaced."""
    files = _headers()
    assert files[SPEC].count(old) == 1
    return files | {SPEC: files[SPEC].replace(old, new)}


def _content(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, to compare before with after."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture
def upstream(repository: Any) -> Any:
    """Return a repository with the headers at the annotated tag v1."""
    repository.commit(_headers())
    repository.git("tag", "-a", "-m", "t", "v1", "main")
    return repository


@pytest.fixture
def fetch(project: Path, server: Any, capsys: pytest.CaptureFixture[str]) -> Fetch:
    """Return a way to run the command in a project that fetches v1 from the server."""
    (project / "xiokv.toml").write_text(
        f"[upstream]\nrepository = '{server.url}/r'\nref = 'v1'\n"
        f"url = '{server.url}/raw/{{commit}}/{{path}}'\n",
        encoding="utf-8",
    )

    def run(*arguments: object) -> Ran:
        with pytest.raises(SystemExit) as stopped:
            main(["--project", str(project), "fetch", *map(str, arguments)])
        out, err = capsys.readouterr()
        return Ran(int(stopped.value.code or 0), out, err)

    return run


def _serve(server: Any, upstream: Any, commit: str) -> None:
    """Let the server hold the refs of the repository and the files of one commit."""
    server.answer("/r/info/refs?service=git-upload-pack", upstream.advertisement())
    for path in (SPEC, KV):
        server.answer(f"/raw/{commit}/{path}", upstream.git("cat-file", "blob", f"{commit}:{path}"))


def test_the_lock_holds_what_was_fetched(fetch: Fetch, project: Path, upstream: Any) -> None:
    ran = fetch("--from", upstream.path)
    assert (ran.code, ran.err) == (0, "")
    lock = read_lock(project / LOCK)
    assert lock is not None
    assert (lock.ref, lock.commit) == ("v1", upstream.commit_of("v1"))
    for path, body in _headers().items():
        entry = lock.file(path)
        assert entry is not None
        assert entry.sha256 == hashlib.sha256(body).hexdigest()
        assert (entry.bytes, entry.spdx) == (len(body), "MIT")
        assert entry.url.endswith(f"/raw/{lock.commit}/{path}")
    assert json.loads((project / IR).read_text(encoding="utf-8"))["_generated"]["ref"] == "v1"


def test_the_same_commit_over_http_and_from_git_gives_the_same_bytes(
    fetch: Fetch, project: Path, upstream: Any, server: Any
) -> None:
    assert fetch("--from", upstream.path).code == 0
    from_git = _content(project)
    for name in (IR, LOCK):
        (project / name).unlink()
    _serve(server, upstream, upstream.commit_of("v1"))
    assert fetch().code == 0
    assert _content(project) == from_git


def test_a_second_fetch_of_the_same_commit_writes_nothing(
    fetch: Fetch, project: Path, upstream: Any
) -> None:
    assert "first fetch" in fetch("--from", upstream.path).out
    before = (project / LOCK).stat().st_mtime_ns
    again = fetch("--from", upstream.path)
    assert "unchanged" in again.out
    assert "nothing to write" in again.out
    assert (project / LOCK).stat().st_mtime_ns == before


def test_a_ref_that_moved_says_from_where_to_where(
    fetch: Fetch, project: Path, upstream: Any
) -> None:
    old = upstream.commit_of("main")
    fetch("--from", upstream.path, "--ref", "main")
    new = upstream.commit(_headers() | {"README": b"more"})
    ran = fetch("--from", upstream.path, "--ref", "main")
    assert ran.code == 0
    assert f"main = {new}: moved from main = {old}" in ran.out
    assert ran.err == ""  # branches move
    assert "xiokv.toml still names ref 'v1', which the next fetch goes back to" in ran.out
    keep = f"--project {project} fetch --ref main --from {upstream.path} --save-ref"
    assert f'to keep main, write ref = "main" there, or run: xiokv-gen {keep}\n' in ran.out


@pytest.mark.parametrize("annotated", [True, False])
def test_a_tag_that_was_moved_is_told(fetch: Fetch, upstream: Any, annotated: bool) -> None:
    fetch("--from", upstream.path)
    old, new = upstream.commit_of("v1"), upstream.commit(_headers() | {"README": b"more"})
    upstream.git("tag", "-f", *(["-a", "-m", "t"] if annotated else []), "v1", "main")
    ran = fetch("--from", upstream.path)
    assert ran.code == 0
    said = f"warning: upstream moved the tag v1: xiokv.lock has commit {old}, the tag is at {new}"
    assert said in ran.err
    assert "moved the tag" not in fetch("--from", upstream.path).err
    upstream.git("tag", "-f", "v1", old)
    assert json.loads(fetch("--from", upstream.path, "--json").out)["moved_tag"] is True


def test_another_name_of_the_locked_commit_is_no_move(fetch: Fetch, upstream: Any) -> None:
    fetch("--from", upstream.path)
    out = fetch("--from", upstream.path, "--ref", "main").out
    assert f"main = {upstream.commit_of('v1')}: the commit that was locked as v1\n" in out


def test_saving_the_ref_keeps_what_else_xiokv_toml_says(
    fetch: Fetch, project: Path, upstream: Any
) -> None:
    path = project / "xiokv.toml"
    before = path.read_text(encoding="utf-8")
    ran = fetch("--from", upstream.path, "--ref", "main", "--save-ref")
    assert ran.code == 0
    assert "note:" not in ran.out
    assert "xiokv.toml" in ran.out.splitlines()[-1]
    assert path.read_text(encoding="utf-8") == before.replace("'v1'", '"main"')
    assert read_lock(project / LOCK).ref == "main"
    assert "unchanged" in fetch("--from", upstream.path).out


def test_a_refused_change_saves_no_ref_and_the_hint_repeats_what_was_asked(
    fetch: Fetch, project: Path, upstream: Any
) -> None:
    fetch("--from", upstream.path)
    upstream.commit(_changed(b"OPC_KV_EXIST = 0x14", b"OPC_KV_EXIST = 0x15"))
    before = _content(project)
    ran = fetch("--from", upstream.path, "--ref", "main", "--save-ref")
    assert ran.code == 4
    options = f"--ref main --from {upstream.path} --save-ref --accept"
    assert ran.err.endswith(f"run xiokv-gen --project {project} fetch {options}\n")
    assert _content(project) == before
    ran = fetch("--from", upstream.path, "--ref", "main")
    assert ran.err.endswith(f"fetch --ref main --from {upstream.path} --accept\n")


def test_an_addition_is_shown_and_taken(fetch: Fetch, project: Path, upstream: Any) -> None:
    fetch("--from", upstream.path)
    upstream.commit(_changed(*ADDED))
    ran = fetch("--from", upstream.path, "--ref", "main")
    assert ran.code == 0
    assert "SPDK_NVME_KV_STORE_OPT_NEW" in ran.out
    assert b"SPDK_NVME_KV_STORE_OPT_NEW" in (project / IR).read_bytes()


def test_a_breaking_change_needs_to_be_accepted(fetch: Fetch, project: Path, upstream: Any) -> None:
    fetch("--from", upstream.path)
    upstream.commit(_changed(b"OPC_KV_EXIST = 0x14", b"OPC_KV_EXIST = 0x15"))
    before = _content(project)
    refused = fetch("--from", upstream.path, "--ref", "main")
    assert refused.code == 4
    assert "SPDK_NVME_OPC_KV_EXIST" in refused.out
    assert _content(project) == before
    _, _, advised = refused.err.strip().partition(" fetch ")
    assert fetch(*shlex.split(advised)).code == 0
    lock = read_lock(project / LOCK)
    assert lock is not None
    assert lock.commit == upstream.commit_of("main")


def test_what_build_owns_stays_in_the_lock(fetch: Fetch, project: Path, upstream: Any) -> None:
    fetch("--from", upstream.path)
    lock = project / LOCK
    text = lock.read_text(encoding="utf-8")
    lock.write_text(text.replace("owned = []", 'owned = ["generated/a.h"]'), encoding="utf-8")
    upstream.commit(_headers() | {"README": b"more"})
    fetch("--from", upstream.path, "--ref", "main")
    assert 'owned = [\n    "generated/a.h",\n]' in lock.read_text(encoding="utf-8")


def test_a_plain_folder_pins_nothing_and_names_no_local_path(fetch: Fetch, project: Path) -> None:
    ran = fetch("--from", HEADERS)
    assert ran.code == 0
    assert "unpinned" in ran.out
    lock = read_lock(project / LOCK)
    assert lock is not None
    assert (lock.commit, {entry.url for entry in lock.files}) == ("", {""})
    for name in (IR, LOCK):
        assert str(HEADERS) not in (project / name).read_text(encoding="utf-8")


def test_the_bundled_spec_needs_neither_network_nor_git(
    fetch: Fetch, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert fetch("--ref", "bundled").code == 0
    lock = read_lock(project / LOCK)
    assert lock is not None
    assert (lock.repository, lock.ref) == ("https://github.com/spdk/spdk", "bundled")
    assert len(lock.commit) == 40


def test_json_tells_the_same(fetch: Fetch, upstream: Any) -> None:
    commit = upstream.commit_of("v1")
    values = json.loads(fetch("--from", upstream.path, "--json").out)
    assert (values["commit"], values["previous_commit"]) == (commit, None)
    assert values["written"] == [IR, LOCK]
    values = json.loads(fetch("--from", upstream.path, "--json").out)
    assert (values["previous_commit"], values["breaking"]) == (commit, False)
    assert values["written"] == []
    upstream.commit(_changed(b"OPC_KV_EXIST = 0x14", b"OPC_KV_EXIST = 0x15"))
    values = json.loads(fetch("--from", upstream.path, "--json", "--ref", "main").out)
    assert (values["breaking"], values["written"]) == (True, [])
    assert "SPDK_NVME_OPC_KV_EXIST" in json.dumps(values["changes"])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"body": b"404: Not Found", "status": 404}, "v26.05"),
        ({"body": b"404: Not Found"}, "in place of a C header"),
        ({"body": b"<html><body>Sign in</body></html>"}, "in place of a C header"),
        ({"body": b""}, "empty file"),
        ({"body": b"int x;", "length": 100}, "cannot be fetched"),
        ({"body": b"int x;"}, "v26.05"),
        ({"body": b"int x\xff;"}, "not UTF-8"),
        ({"body": _changed(b"uint64_t nuse;", b"uint64_t nuse, more;")[SPEC]}, "assert fails"),
        ({"body": b"x" * (8 << 20) + b"x"}, "more than 8388608 bytes"),
        ({"status": 302, "headers": {"Location": "http://h.example/"}}, "is not https"),
    ],
)
def test_a_bad_answer_writes_nothing(
    fetch: Fetch,
    project: Path,
    upstream: Any,
    server: Any,
    answer: dict[str, Any],
    message: str,
) -> None:
    commit = upstream.commit_of("v1")
    _serve(server, upstream, commit)
    server.answer(f"/raw/{commit}/{SPEC}", answer.pop("body", b""), **answer)
    before = _content(project)
    ran = fetch()
    assert ran.code == 1
    assert message in ran.err
    assert _content(project) == before


def test_other_bytes_for_the_locked_commit_are_refused(
    fetch: Fetch, project: Path, upstream: Any, server: Any
) -> None:
    commit = upstream.commit_of("v1")
    fetch("--from", upstream.path)
    _serve(server, upstream, commit)
    forged = _headers()[KV] + b"/* one more */\n"
    server.answer(f"/raw/{commit}/{KV}", forged)
    before = _content(project)
    ran = fetch("--accept")
    assert ran.code == 1
    assert hashlib.sha256(forged).hexdigest() in ran.err
    assert hashlib.sha256(_headers()[KV]).hexdigest() in ran.err
    assert _content(project) == before


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--ref", "--upload-pack=x"], 2, "not allowed"),
        (["--ref", "a..b"], 2, "not allowed"),
        (["--ref", ""], 2, "not allowed"),
        (["--ref", "v2"], 1, "near names: v1"),
        (["--ref", "bundled"], 2, "--from"),
        (["--ref"], 2, "requires an argument"),
    ],
)
def test_a_wrong_ref_writes_nothing(
    fetch: Fetch,
    project: Path,
    upstream: Any,
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    before = _content(project)
    ran = fetch("--from", upstream.path, *arguments)
    assert ran.code == code
    assert message in ran.err
    assert _content(project) == before


@pytest.mark.parametrize("name", [IR, LOCK])
def test_what_cannot_be_read_is_not_overwritten(
    fetch: Fetch, project: Path, upstream: Any, name: str
) -> None:
    fetch("--from", upstream.path)
    (project / name).write_text("<<<<<<< ours\n", encoding="utf-8")
    before = _content(project)
    upstream.commit(_changed(*ADDED))
    ran = fetch("--from", upstream.path, "--ref", "main")
    assert ran.code == 1
    assert Path(name).name in ran.err.splitlines()[0]
    assert _content(project) == before


@pytest.mark.parametrize("damage", [b"", b"<<<<<<< ours\n", b"\xff", None])
def test_a_spec_file_that_the_lock_vouches_for_is_restored(
    fetch: Fetch, project: Path, upstream: Any, damage: bytes | None
) -> None:
    fetch("--from", upstream.path)
    before = _content(project)
    (project / IR).unlink()
    if damage is not None:
        (project / IR).write_bytes(damage)
    assert fetch("--from", upstream.path).code == 0
    assert _content(project) == before


def test_a_spec_file_edited_by_hand_is_no_change_of_upstream(
    fetch: Fetch, project: Path, upstream: Any
) -> None:
    fetch("--from", upstream.path)
    path = project / IR
    text = path.read_text(encoding="utf-8")
    edited = text.replace('"SPDK_NVME_OPC_KV_LIST": 6', '"SPDK_NVME_OPC_KV_LIST": 7')
    path.write_text(edited, encoding="utf-8")
    ran = fetch("--from", upstream.path)
    assert (ran.code, "definitions: unchanged" in ran.out) == (0, True)
    assert path.read_text(encoding="utf-8") == text


def test_other_definitions_with_no_spec_file_to_compare_need_to_be_accepted(
    fetch: Fetch, project: Path, upstream: Any
) -> None:
    fetch("--from", upstream.path)
    (project / IR).unlink()
    upstream.commit(_changed(*ADDED))
    ran = fetch("--from", upstream.path, "--ref", "main")
    assert ran.code == 4
    assert f"BREAKING: {IR}: not there, so what changed" in ran.out
    assert fetch("--from", upstream.path, "--ref", "main", "--accept").code == 0


def test_nothing_is_written_through_a_link_that_leads_out(
    fetch: Fetch, project: Path, upstream: Any, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / "generated").mkdir()
    (project / "generated/spec").symlink_to(outside)
    ran = fetch("--from", upstream.path)
    assert ran.code == 1
    assert f"{IR}: a link in this path leads out of" in ran.err
    assert not any(outside.iterdir())
    assert not (project / LOCK).exists()


def test_a_tree_from_before_key_value_is_refused(
    fetch: Fetch, project: Path, spdk_git: Path
) -> None:
    before = _content(project)
    ran = fetch("--from", spdk_git, "--ref", "v26.01")
    assert ran.code == 1
    assert "v26.05" in ran.err
    assert _content(project) == before


@pytest.mark.parametrize("ref", ["v26.05", "HEAD"])
def test_the_real_upstream_is_understood(fetch: Fetch, spdk_git: Path, ref: str) -> None:
    assert fetch("--from", spdk_git, "--ref", ref).code == 0


def test_no_compiler_is_said_and_changes_no_byte(
    fetch: Fetch, project: Path, upstream: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch("--from", upstream.path)
    before = _content(project)
    git = shutil.which("git")
    assert git is not None
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").symlink_to(git)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    ran = fetch("--from", upstream.path)
    assert ran.code == 0
    assert "compiler" in ran.out
    assert _content(project) == before
