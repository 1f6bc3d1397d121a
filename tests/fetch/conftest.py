"""A loopback web server that answers as told, and a git repository to fetch from."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web import Server, make_certificate, serving


@pytest.fixture(autouse=True)
def plain_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what would lead requests elsewhere than to the server of the test."""
    for name in os.environ:
        if name.lower().endswith("_proxy") or name in ("NETRC", "REQUESTS_CA_BUNDLE"):
            monkeypatch.delenv(name)


@pytest.fixture
def server() -> Iterator[Server]:
    """Return a server without TLS."""
    with serving() as running:
        yield running


@pytest.fixture
def tls_server(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Server]:
    """Return a server with TLS, whose certificate is trusted for the test."""
    certificate = make_certificate(tmp_path_factory.mktemp("tls"))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    with serving(certificate) as running:
        yield running


class Repository:
    """A bare git repository, and a way to put commits and names into it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        self.git("init", "--bare", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Run git on the repository, whatever the developer has configured."""
        who = {"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org"}
        who |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in who.items()}
        return subprocess.run(
            ["git", f"--git-dir={self.path}", *arguments],
            input=stdin,
            env=os.environ | who | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
            check=True,
            capture_output=True,
        ).stdout

    def commit(self, files: dict[str, bytes], branch: str = "main") -> str:
        """Put a commit that holds exactly `files` on a branch; return its 40 digits."""
        stream = b"commit refs/heads/%s\ncommitter t <t@example.org> 0 +0000\n" % branch.encode()
        stream += b"data 4\ntest\n"
        for path, body in files.items():
            stream += b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(body), body)
        self.git("fast-import", "--quiet", "--force", stdin=stream)
        return self.commit_of(f"refs/heads/{branch}")

    def commit_of(self, name: str) -> str:
        """Return the commit that git itself finds under a name."""
        return self.git("rev-parse", f"{name}^{{commit}}").decode().strip()

    def advertisement(self) -> bytes:
        """Return what a smart HTTP server answers to info/refs, made by git itself."""
        listing = self.git("upload-pack", "--advertise-refs", "--stateless-rpc", str(self.path))
        return b"001e# service=git-upload-pack\n0000" + listing


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return an empty bare repository."""
    folder = tmp_path / "upstream.git"
    folder.mkdir()
    return Repository(folder)
