"""A web server on this machine that answers as a test tells it, with or without TLS."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread


@dataclass
class Answer:
    """What the server says.

    It announces `length` bytes, by default those of the body, unless `announces` is false.
    With `drip` it sends one byte now and then, and keeps silent where it announced more than
    there are.
    """

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None
    announces: bool = True
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
                if answer.announces:
                    self.send_header("Content-Length", str(length))
                self.end_headers()
                if answer.drip:
                    self._drip(answer.body, length)
                else:
                    with suppress(ConnectionError):  # the client may have seen enough
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


@contextmanager
def serving(certificate: Path | None = None) -> Iterator[Server]:
    """Run a server; with TLS where there is a certificate that `make_certificate` made."""
    context = None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, _key_of(certificate))
    running = Server(context)
    try:
        yield running
    finally:
        running.close()


def make_certificate(folder: Path) -> Path:
    """Return a certificate of this machine's loopback address, with its key beside it."""
    certificate = folder / "cert.pem"
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1"
    names = ["-subj", "/CN=loopback", "-addext", "subjectAltName=IP:127.0.0.1"]
    keys = ["-keyout", _key_of(certificate), "-out", certificate]
    subprocess.run([*make.split(), *names, *keys], check=True, capture_output=True)
    return certificate


def _key_of(certificate: Path) -> Path:
    return certificate.with_name("key.pem")
