"""The script of the scheduled workflow, with a bare origin and a stand-in for gh."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from xiokv.codegen.cli import main

SPEC, KV = "include/spdk/nvme_spec.h", "include/spdk/nvme_kv.h"
HEADERS = Path(__file__).parents[1] / "data/headers"
ADDED = (b"COMPRESS = 1 << 2,", b"COMPRESS = 1 << 2,\n\tSPDK_NVME_KV_STORE_OPT_NEW = 1 << 3,")
BROKEN = (b"COMPRESS = 1 << 2,", b"COMPRESS = 1 << 4,")
SCRIPT = ".github/xiokv-outdated.sh"
BRANCH = "xiokv/spdk-v26.09"

# Keeps its arguments and the text of --body-file.
GH = """\
#!{python}
import json, pathlib, sys
body = pathlib.Path(sys.argv[sys.argv.index("--body-file") + 1]).read_text()
pathlib.Path("{record}").write_text(json.dumps({{"arguments": sys.argv[1:], "body": body}}))
"""


@dataclass
class Place:
    """A checkout of a project, its origin, and the upstream's repository."""

    checkout: Path
    origin: Path
    upstream: Any
    record: Path

    def git(self, *arguments: str, folder: Path | None = None) -> str:
        return subprocess.run(
            ["git", *arguments],
            cwd=folder or self.checkout,
            env=environment(),
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def release(self, tag: str, edit: tuple[bytes, bytes] | None = None) -> None:
        files = {path: (HEADERS / path).read_bytes() for path in (SPEC, KV)}
        if edit:
            files[SPEC] = files[SPEC].replace(*edit)
        self.upstream.commit(files)
        self.upstream.git("tag", tag, "main")

    def run(self, *more: str) -> subprocess.CompletedProcess[str]:
        """Run the script as a fresh checkout of main would."""
        self.git("switch", "--quiet", "main")
        return subprocess.run(
            ["bash", SCRIPT, "--from", str(self.upstream.path), *more],
            cwd=self.checkout,
            env=environment() | {"PATH": f"{self.record.parent}:{environment()['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )

    def asked(self) -> dict[str, Any]:
        """Return what gh was given."""
        arguments = json.loads(self.record.read_text(encoding="utf-8"))
        options = dict(zip(arguments["arguments"][2::2], arguments["arguments"][3::2], strict=True))
        assert arguments["arguments"][:2] == ["pr", "create"]
        return {"body": arguments["body"], **options}


def environment() -> dict[str, str]:
    who = {"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org"}
    who |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in who.items()}
    here = str(Path(sys.executable).parent)
    return {
        **os.environ,
        **who,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "PATH": f"{here}:{os.environ['PATH']}",
    }


def tool(folder: Path, *arguments: object) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--project", str(folder), *map(str, arguments)])


@pytest.fixture
def place(tmp_path: Path, repository: Any) -> Place:
    """Return a project that is locked to v26.05, built, committed and pushed."""
    checkout, tools = tmp_path / "checkout", tmp_path / "tools"
    tools.mkdir()
    checkout.mkdir()
    found = Place(checkout, tmp_path / "origin.git", repository, tools / "asked.json")
    gh = tools / "gh"
    gh.write_text(GH.format(python=sys.executable, record=found.record), encoding="utf-8")
    gh.chmod(0o755)
    found.release("v26.05")
    found.git("init", "--quiet", "--bare", str(found.origin))
    found.git("init", "--quiet", "--initial-branch=main")
    found.git("remote", "add", "origin", str(found.origin))
    tool(checkout, "init", "--follow-upstream")
    tool(checkout, "fetch", "--ref", "v26.05", "--from", repository.path, "--accept")
    tool(checkout, "build")
    found.git("add", "--all", ".")
    found.git("commit", "--quiet", "--message", "begin")
    found.git("push", "--quiet", "origin", "main")
    return found


def test_a_lock_that_is_up_to_date_leaves_all_as_it_is(place: Place) -> None:
    done = place.run()
    assert (done.returncode, done.stdout) == (0, "up to date\n"), done.stderr
    assert place.git("status", "--porcelain") == ""
    assert not place.record.exists()


def test_a_newer_release_becomes_a_pull_request(place: Place) -> None:
    place.release("v26.09", ADDED)
    done = place.run()
    assert done.returncode == 0, done.stderr
    asked = place.asked()
    assert (asked["--title"], asked["--head"]) == ("Move to SPDK v26.09", BRANCH)
    assert "SPDK_NVME_KV_STORE_OPT_NEW added" in asked["body"]

    changed = place.git("diff", "--name-only", "main", BRANCH, folder=place.origin).splitlines()
    assert {"xiokv.toml", "xiokv.lock", "generated/spec/nvme_kv.json"} < set(changed)
    place.git("switch", "--quiet", BRANCH)
    assert 'ref = "v26.09"' in (place.checkout / "xiokv.toml").read_text(encoding="utf-8")
    tool(place.checkout, "check")


def test_one_that_breaks_says_so_in_its_title(place: Place) -> None:
    place.release("v26.09", BROKEN)
    assert place.run().returncode == 0
    assert place.asked()["--title"] == "Move to SPDK v26.09 (breaking)"
    assert "### Breaking changes" in place.asked()["body"]


def test_a_pull_request_is_opened_once(place: Place) -> None:
    place.release("v26.09", ADDED)
    assert place.run().returncode == 0
    place.record.unlink()
    done = place.run()
    assert (done.returncode, done.stdout) == (0, f"the branch {BRANCH} is there already\n")
    assert not place.record.exists()


def test_an_upstream_that_cannot_be_read_fails_and_pushes_nothing(place: Place) -> None:
    place.upstream.commit({SPEC: b"int x;\n", KV: b"int y;\n"})
    place.upstream.git("tag", "v26.09", "main")
    assert place.run().returncode == 1
    assert place.git("branch", "--list", folder=place.origin).split() == ["main"]


def test_a_pull_request_that_is_refused_is_asked_for_again(place: Place) -> None:
    place.release("v26.09", ADDED)
    gh = place.record.with_name("gh")
    allowed = gh.read_text(encoding="utf-8")
    gh.write_text("#!/bin/sh\necho 'not permitted to create pull requests' >&2\nexit 4\n")
    refused = place.run()
    assert (refused.returncode, refused.stderr.splitlines()[-1][:13]) == (1, "not permitted")
    assert place.git("branch", "--list", folder=place.origin).split() == ["main"]
    place.git("switch", "--quiet", "main")
    place.git("branch", "-D", BRANCH)  # the next run has a checkout of its own
    gh.write_text(allowed, encoding="utf-8")
    assert place.run().returncode == 0
    assert place.asked()["--head"] == BRANCH


def test_a_project_whose_ref_cannot_be_moved_fails_and_pushes_nothing(place: Place) -> None:
    text = 'upstream.ref = "v26.05"\n'
    (place.checkout / "xiokv.toml").write_text(text, encoding="utf-8")
    place.git("commit", "--quiet", "--all", "--message", "their own style")
    place.release("v26.09", ADDED)
    done = place.run()
    assert done.returncode == 1
    assert "where it names the ref is not found" in done.stderr
    assert place.git("branch", "--list", folder=place.origin).split() == ["main"]


def test_an_origin_that_does_not_answer_fails(place: Place) -> None:
    place.release("v26.09", ADDED)
    place.git("remote", "set-url", "origin", "/nowhere")
    assert place.run().returncode == 128
    assert place.git("status", "--porcelain") == ""
