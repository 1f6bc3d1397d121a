"""A loopback web server that answers as told, and a git repository to fetch from."""

from __future__ import annotations

import os
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest


@dataclass
class Answer:
    """What the server says.

    It announces `length` bytes. With `drip` it sends one byte now and then, and keeps
    silent where it announced more than there are.
    """

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None
    drip: bool = False


class Server:
    """Answers by path, and keeps the path and the headers of what it was asked."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.answers: dict[str, Answer] = {}
        self.asked: list[tuple[str, HTTPMessage]] = []
        self._closing = Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        if context:
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
        scheme = "https" if context else "http"
        self.url = f"{scheme}://127.0.0.1:{self._http.server_port}"
        self._thread = Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()

    def answer(self, path: str, body: bytes = b"", **how: object) -> str:
        """Set the answer for a path; return its address."""
        self.answers[path] = Answer(body, **how)  # type: ignore[arg-type]
        return self.url + path

    def redirect(self, path: str, target: str) -> str:
        """Set a redirect for a path; return its address."""
        return self.answer(path, status=302, headers={"Location": target})

    def close(self) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _handler(server) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append((self.path, self.headers))
                answer = server.answers.get(self.path, Answer(b"404: Not Found", 404))
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                length = len(answer.body) if answer.length is None else answer.length
                self.send_header("Content-Length", str(length))
                self.end_headers()
                if answer.drip:
                    self._drip(answer.body, length)
                else:
                    self.wfile.write(answer.body)

            def _drip(self, body: bytes, length: int) -> None:
                for byte in body:
                    if server._closing.wait(0.02):
                        return
                    self.wfile.write(bytes([byte]))
                if length > len(body):
                    server._closing.wait()

            def log_message(self, format: str, *args: object) -> None:
                """Keep the test output clean."""

        return Handler


@pytest.fixture(autouse=True)
def plain_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what would lead requests elsewhere than to the server of the test."""
    for name in os.environ:
        if name.lower().endswith("_proxy") or name in ("NETRC", "REQUESTS_CA_BUNDLE"):
            monkeypatch.delenv(name)


@pytest.fixture
def server() -> Iterator[Server]:
    """Return a server without TLS."""
    running = Server()
    yield running
    running.close()


@pytest.fixture
def tls_server(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Server]:
    """Return a server with TLS, whose certificate is trusted for the test."""
    folder = tmp_path_factory.mktemp("tls")
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1"
    names = ["-subj", "/CN=loopback", "-addext", "subjectAltName=IP:127.0.0.1"]
    keys = ["-keyout", folder / "key.pem", "-out", folder / "cert.pem"]
    subprocess.run([*make.split(), *names, *keys], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(folder / "cert.pem"))
    running = Server(context)
    yield running
    running.close()


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
