"""Refs: a name becomes a commit the way git itself does it."""

from __future__ import annotations

from typing import Any

import pytest

from xiokv.codegen.allowed import check_ref
from xiokv.codegen.config import Upstream
from xiokv.codegen.errors import XiokvError
from xiokv.codegen.upstream.gitdir import GitDirectory
from xiokv.codegen.upstream.refs import choose, parse_advertisement
from xiokv.codegen.upstream.source import Source
from xiokv.codegen.upstream.web import Web

PATH = "include/spdk/nvme_kv.h"


@pytest.fixture
def named(repository: Any) -> Any:
    """Return a repository with a branch, both kinds of tag, and a tag that hides a branch."""
    old = repository.commit({PATH: b"int old;"})
    repository.git("tag", "light", old)
    repository.git("-c", "user.name=t", "-c", "user.email=t@e", "tag", "-a", "-m", "t", "v1", old)
    repository.git("tag", "-a", "-m", "t", "nested", "refs/tags/v1")
    repository.commit({PATH: b"int other;"}, branch="v1")
    repository.commit({PATH: b"int new;"})
    return repository


@pytest.fixture(params=["web", "git"])
def source(request: pytest.FixtureRequest, named: Any, server: Any) -> Source:
    """Return the same repository over HTTP and as a directory."""
    if request.param == "git":
        return GitDirectory(named.path)
    server.answer("/r/info/refs?service=git-upload-pack", named.advertisement())
    return Web(Upstream(f"{server.url}/r", "main", (PATH,), ""))


@pytest.mark.parametrize(
    ("ref", "name"),
    [
        ("main", "refs/heads/main"),
        ("light", "refs/tags/light"),
        ("v1", "refs/tags/v1"),
        ("nested", "refs/tags/v1"),
        ("heads/v1", "refs/heads/v1"),
        ("refs/heads/v1", "refs/heads/v1"),
        ("HEAD", "refs/heads/main"),
    ],
)
def test_a_ref_resolves_to_the_commit_that_git_finds(
    source: Source, named: Any, ref: str, name: str
) -> None:
    assert source.resolve(ref) == named.commit_of(name)


def test_a_full_commit_is_taken_as_it_is(source: Source, named: Any) -> None:
    commit = named.commit_of("refs/heads/main")
    assert source.resolve(commit.upper()) == commit


@pytest.mark.parametrize("ref", ["mian", "ligth", "v2"])
def test_an_unknown_ref_is_refused_with_near_names(source: Source, ref: str) -> None:
    near = {"mian": "main", "ligth": "light", "v2": "v1"}[ref]
    with pytest.raises(XiokvError, match=f"no tag or branch '{ref}'; near names: .*{near}"):
        source.resolve(ref)


def test_an_abbreviated_commit_is_refused(source: Source, named: Any) -> None:
    with pytest.raises(XiokvError, match="all its 40"):
        source.resolve(named.commit_of("main")[:12])


def test_the_git_directory_must_hold_the_commit(named: Any) -> None:
    with pytest.raises(XiokvError, match="does not hold " + "1" * 40):
        GitDirectory(named.path).resolve("1" * 40)


def test_a_tag_of_something_else_than_a_commit_is_refused(named: Any) -> None:
    blob = named.git("rev-parse", f"main:{PATH}").decode().strip()
    named.git("tag", "blob", blob)
    with pytest.raises(XiokvError, match="blob is a blob"):
        GitDirectory(named.path).resolve("blob")


@pytest.mark.parametrize("ref", ["v26.05", "a", "0", "LTS", "feature/x_y-z.1", "a" * 40])
def test_usual_refs_are_allowed(ref: str) -> None:
    assert check_ref(ref) is None


@pytest.mark.parametrize(
    "ref",
    ["", "--upload-pack=x", "-x", "a..b", "/a", ".a", "a b", "a\n", "a~1", "a^{}", "a:b", "é"],
)
def test_hostile_refs_are_refused(ref: str) -> None:
    assert "not allowed" in (check_ref(ref) or "")


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"0000", b"zzzz", b"001e# service=git-receive-pack\n0000", b"ffff# service"],
)
def test_an_answer_that_is_no_list_of_refs_is_refused(body: bytes) -> None:
    with pytest.raises(XiokvError, match="no list of git refs"):
        parse_advertisement(body)


def test_a_repository_without_refs_has_no_near_names() -> None:
    with pytest.raises(XiokvError, match="no tag or branch 'main'; a commit"):
        choose({}, "main")
