"""check --upstream: the locked commit is fetched again, from a server on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copytree
from threading import Thread

import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"
NEXT = "76543210fedcba9876543210fedcba9876543210"
HEADERS = Path(__file__).resolve().parents[1] / "data" / "headers"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    """Return a folder that holds an upstream tree below its commit."""
    copytree(HEADERS, tmp_path / "www" / COMMIT)
    return tmp_path / "www" / COMMIT


@pytest.fixture
def pinned(project: Path, upstream: Path, run) -> Iterator[Path]:
    """Return a project whose spec was fetched from the server at a commit, and built."""
    handler = partial(_Quiet, directory=str(upstream.parent))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    (project / "xiokv.toml").write_text(
        f'[upstream]\nrepository = "{url}/repo"\nref = "{COMMIT}"\n'
        f'url = "{url}/{{commit}}/{{path}}"\n[output]\nemit = ["python"]\n'
    )
    for command in ("fetch", "build"):
        outcome = run(command)
        assert outcome.code == 0, outcome.err
    yield project
    server.shutdown()
    server.server_close()


def test_an_unchanged_upstream_is_clean(pinned: Path, run, snapshot) -> None:
    before = snapshot()
    outcome = run("check", "--upstream")
    assert outcome.code == 0, outcome.err
    assert snapshot() == before


def test_other_bytes_at_the_locked_commit_are_an_error(
    pinned: Path, upstream: Path, run, snapshot
) -> None:
    header = upstream / "include" / "spdk" / "nvme_spec.h"
    header.write_text(header.read_text(encoding="utf-8") + "\n/* more */\n", encoding="utf-8")
    before = snapshot()
    outcome = run("check", "--upstream")
    assert outcome.code in (1, 3)
    assert "nvme_spec.h" in outcome.err + outcome.out
    assert snapshot() == before


def test_an_unpinned_spec_cannot_be_compared(project: Path, run) -> None:
    assert run("fetch", "--ref", "v1", "--from", str(HEADERS)).code == 0
    assert run("build", "--emit-only").code == 0
    outcome = run("check", "--upstream")
    assert outcome.code == 1
    assert "xiokv.lock states no commit" in outcome.err


@pytest.fixture
def bumped(pinned: Path, upstream: Path) -> Path:
    """Return the project with another commit in its xiokv.toml, where an option's sense turned."""
    copytree(upstream, upstream.parent / NEXT)
    header = upstream.parent / NEXT / "include" / "spdk" / "nvme_spec.h"
    text = header.read_text(encoding="utf-8")
    turned = text.replace("STORE_OPT_DONT_COMPRESS", "STORE_OPT_COMPRESS")
    assert turned != text
    header.write_text(turned, encoding="utf-8")
    config = pinned / "xiokv.toml"
    config.write_text(config.read_text(encoding="utf-8").replace(COMMIT, NEXT), encoding="utf-8")
    return pinned


TURNED = (
    "BREAKING: enum spdk_nvme_kv_store_option: SPDK_NVME_KV_STORE_OPT_DONT_COMPRESS renamed to"
    " SPDK_NVME_KV_STORE_OPT_COMPRESS (value 0x4); its sense may have changed"
)


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (("fetch",), 4, "breaks users, so nothing was written"),
        (("check", "--upstream"), 3, "stale; run xiokv-gen fetch"),
    ],
)
def test_a_bump_that_turns_the_sense_of_an_option_is_told_and_taken_by_nobody(
    bumped: Path, run, snapshot, command: tuple[str, ...], code: int, said: str
) -> None:
    before = snapshot()
    outcome = run(*command)
    assert outcome.code == code
    assert TURNED in outcome.out.splitlines()
    assert said in outcome.err
    assert snapshot() == before


def test_the_report_of_a_bump_names_the_commit_that_breaks_users(bumped: Path, run) -> None:
    annotation = run("check", "--upstream", "--format", "github").out
    assert f"upstream at {NEXT}, which xiokv.toml names, defines something else" in annotation
    assert "in a way that breaks users; run xiokv-gen fetch%0ABREAKING: " in annotation


def test_an_accepted_turn_gives_the_option_its_new_name(bumped: Path, run) -> None:
    twin = bumped / "generated" / "nvme_kv.py"
    assert "    DONT_COMPRESS = 0x04" in twin.read_text(encoding="utf-8")
    assert run("fetch", "--accept").code == 0
    assert run("build").code == 0
    assert "    COMPRESS = 0x04" in twin.read_text(encoding="utf-8")
    assert run("check", "--upstream").code == 0


def test_an_upstream_that_says_the_same_is_said(pinned: Path, run) -> None:
    said = "upstream, asked again, defines what xiokv.lock holds\n"
    assert run("check", "--upstream").out.endswith(said)
    assert run("check", "--upstream", "--format", "github").out == said
    assert said not in run("check").out
