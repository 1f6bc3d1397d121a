"""A web server on this machine that answers as a test tells it."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass
class Site:
    """A web server on this machine: one answer a path; redirects for some."""

    url: str
    bodies: dict[str, bytes] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    announced: dict[str, int | None] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


def serve(context: ssl.SSLContext | None = None) -> Iterator[Site]:
    site = Site("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            body = site.bodies.get(self.path, b"404: Not Found")
            moved = site.redirects.get(self.path)
            known = 200 if self.path in site.bodies else 404
            self.send_response(302 if moved else site.statuses.get(self.path, known))
            if moved:
                self.send_header("Location", moved)
            length = site.announced.get(self.path, len(body))
            if length is not None:
                self.send_header("Content-Length", str(length))
            self.end_headers()
            with suppress(ConnectionError):  # the script may have seen enough
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    site.url = f"{'https' if context else 'http'}://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield site
    server.shutdown()
    server.server_close()
    thread.join()
