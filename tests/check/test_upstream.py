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
