"""xiokv-gen outdated: the lock against the tags of a repository, by its own headers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from xiokv.codegen.cli import main
from xiokv.codegen.upstream.releases import releases

SPEC, KV = "include/spdk/nvme_spec.h", "include/spdk/nvme_kv.h"
HEADERS = Path(__file__).parents[1] / "data/headers"
# Texts of nvme_spec.h and others in their place.
ADDED = (b"COMPRESS = 1 << 2,", b"COMPRESS = 1 << 2,\n\tSPDK_NVME_KV_STORE_OPT_NEW = 1 << 3,")
BROKEN = (ADDED[0], ADDED[1].replace(b"1 << 2", b"1 << 4"))


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(project: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a way to run a command in the project."""

    def call(*arguments: object) -> Ran:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main(["--project", str(project), *map(str, arguments)])
        out, err = capsys.readouterr()
        return Ran(int(stopped.value.code or 0), out, err)

    return call


@pytest.fixture
def release(repository: Any) -> Callable[..., str]:
    """Return a function that puts a commit, with an edit of nvme_spec.h, under a tag."""

    def make(tag: str, edit: tuple[bytes, bytes] | None = None, *, annotated: bool = True) -> str:
        files = {path: (HEADERS / path).read_bytes() for path in (SPEC, KV)}
        if edit:
            assert files[SPEC].count(edit[0]) == 1
            files[SPEC] = files[SPEC].replace(*edit)
        commit = repository.commit(files | {"VERSION": tag.encode()})
        repository.git("tag", "-f", *(["-a", "-m", "t"] if annotated else []), tag, "main")
        return commit

    return make


@pytest.fixture
def outdated(run: Run, release: Any, repository: Any) -> Run:
    """Return a way to run the command in a project that is locked to v26.05."""
    release("v26.05")
    assert run("fetch", "--ref", "v26.05", "--from", repository.path).code == 0
    return lambda *arguments: run("outdated", "--from", repository.path, *arguments)


def test_the_newest_release_is_up_to_date(outdated: Run) -> None:
    ran = outdated()
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[-1] == "up to date"


@pytest.mark.parametrize("annotated", [True, False])
def test_a_newer_release_is_told_with_its_additions(
    outdated: Run, release: Any, repository: Any, project: Path, annotated: bool
) -> None:
    release("v26.09", ADDED, annotated=annotated)
    ran = outdated()
    assert ran.code == 3
    assert "compatible: enum spdk_nvme_kv_store_option: SPDK_NVME_KV_STORE_OPT_NEW added" in ran.out
    fix = f"xiokv-gen --project {project} fetch --ref v26.09 --from {repository.path} --save-ref"
    assert ran.err == f"xiokv-gen: v26.09 is newer than v26.05; run {fix}\n"


def test_a_newer_release_that_breaks_is_told_first_and_by_its_own_code(
    outdated: Run, release: Any
) -> None:
    release("v26.09", BROKEN)
    ran = outdated()
    assert ran.code == 4
    lines = ran.out.splitlines()[1:]
    assert [line.partition(":")[0] for line in lines] == ["BREAKING", "compatible"]
    assert "fetch --ref v26.09 --from " in ran.err
    assert ran.err.endswith(" --save-ref --accept\n")


def test_a_newer_release_without_other_definitions_is_newer(outdated: Run, release: Any) -> None:
    release("v26.09")
    ran = outdated()
    assert ran.code == 3
    assert ran.out.endswith("definitions: unchanged\n")


@pytest.mark.parametrize(
    ("tag", "code", "code_with_pre"),
    [
        ("v26.09-rc1", 0, 3),
        ("v26.05-rc9", 0, 0),
        ("v26.05.1", 3, 3),
        ("v25.09.7", 0, 0),
        ("v26.09-pre", 0, 0),
        ("v100.01", 3, 3),
        ("nightly", 0, 0),
        ("26.09", 0, 0),
    ],
)
def test_which_tags_are_newer_releases(
    outdated: Run, release: Any, tag: str, code: int, code_with_pre: int
) -> None:
    release(tag)
    assert (outdated().code, outdated("--pre").code) == (code, code_with_pre)


def test_a_locked_candidate_is_older_than_its_release_and_newer_than_the_one_before(
    outdated: Run, run: Run, release: Any, repository: Any
) -> None:
    release("v26.09-rc1", ADDED)
    assert run("fetch", "--ref", "v26.09-rc1", "--from", repository.path).code == 0
    assert outdated().code == 0
    release("v26.09")
    assert outdated().code == 4  # what the candidate had is gone


def test_a_tag_that_was_moved_is_told(outdated: Run, release: Any) -> None:
    release("v26.05", ADDED)
    ran = outdated()
    assert ran.code == 3
    assert "note: upstream moved v26.05" in ran.out
    assert "v26.05 is newer than v26.05" not in ran.err


def test_a_locked_commit_that_is_no_release_is_compared(
    outdated: Run, run: Run, release: Any, repository: Any
) -> None:
    files = {path: (HEADERS / path).read_bytes() for path in (SPEC, KV)}
    commit = repository.commit(files, branch="topic")
    run("fetch", "--ref", commit, "--from", repository.path)
    ran = outdated()
    assert ran.code == 0
    assert f"note: the locked commit {commit} is no release" in ran.out
    release("v26.09", ADDED)
    assert outdated().code == 3


def test_the_bundled_spec_goes_by_the_release_that_it_is_of(
    run: Run, release: Any, repository: Any
) -> None:
    run("fetch")
    release("v26.01")
    assert run("outdated", "--from", repository.path).code == 0


def test_json(outdated: Run, release: Any) -> None:
    locked = json.loads(outdated("--json").out)
    assert (locked["outdated"], locked["newest"], locked["changes"]) == (False, "v26.05", [])
    commit = release("v26.09", ADDED)
    told = json.loads(outdated("--json").out)
    assert (told["outdated"], told["breaking"]) == (True, False)
    assert (told["newest"], told["newest_commit"], told["ref"]) == ("v26.09", commit, "v26.05")
    assert [change["breaking"] for change in told["changes"]] == [False]


def test_markdown_puts_what_breaks_first(outdated: Run, release: Any) -> None:
    release("v26.09", BROKEN)
    text = outdated("--format", "markdown").out
    breaking, other = text.index("### Breaking changes"), text.index("### Other changes")
    assert breaking < text.index("is now 0x10") < other < text.index("STORE_OPT_NEW added")


def test_over_the_network_the_servers_tags_count(
    outdated: Run, run: Run, release: Any, repository: Any, server: Any, project: Path
) -> None:
    commit = release("v26.09", ADDED)
    server.answer("/r/info/refs?service=git-upload-pack", repository.advertisement())
    for path in (SPEC, KV):
        server.answer(f"/raw/{commit}/{path}", repository.git("show", f"{commit}:{path}"))
    (project / "xiokv.toml").write_text(
        f"[upstream]\nrepository = '{server.url}/r'\n"
        f"url = '{server.url}/raw/{{commit}}/{{path}}'\n",
        encoding="utf-8",
    )
    ran = run("outdated")
    assert ran.code == 3, ran.err
    assert "STORE_OPT_NEW added" in ran.out


def test_a_repository_without_releases_is_a_failure(outdated: Run, repository: Any) -> None:
    repository.git("tag", "-d", "v26.05")
    ran = outdated()
    assert (ran.code, ran.out) == (1, "")
    assert "has no tag of a release, such as v26.05" in ran.err


def test_a_folder_without_tags_and_one_that_is_not_there_are_matters_of_usage(
    outdated: Run, run: Run, tmp_path: Path
) -> None:
    for place in (HEADERS, tmp_path / "nowhere"):
        ran = run("outdated", "--from", place)
        assert (ran.code, ran.out) == (2, "")


def test_a_newer_release_that_cannot_be_read_is_a_failure(outdated: Run, repository: Any) -> None:
    repository.commit({SPEC: b"int x;\n", KV: b"int y;\n"})
    repository.git("tag", "v26.09", "main")
    ran = outdated()
    assert (ran.code, ran.out) == (1, "")


def test_releases_are_in_the_order_of_their_numbers() -> None:
    names = ["v26.10", "v9.05", "v26.9", "v26.9.1", "v26.9-rc2", "v26.9-rc10", "v26.9-pre"]
    refs = {f"refs/tags/{name}": 40 * "a" for name in names} | {"refs/heads/v99.99": 40 * "b"}
    ordered = [release.tag for release in releases(refs)]
    assert ordered == ["v9.05", "v26.9-rc2", "v26.9-rc10", "v26.9", "v26.9.1", "v26.10"]


def test_nothing_is_written(outdated: Run, release: Any, project: Path) -> None:
    release("v26.09", ADDED)
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    outdated()
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before
