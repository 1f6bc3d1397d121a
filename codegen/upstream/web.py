"""Fetching over HTTPS, and the upstream repository behind it.

In: addresses built from xiokv.toml. Out: the whole body, or an error; never a part of it.
Sizes, waits and redirects are bounded, and no credentials are sent, whatever the machine
has lying about.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass
from threading import Thread
from urllib.parse import urljoin, urlsplit

import requests
from requests.auth import AuthBase

from xiokv.codegen.config import Upstream
from xiokv.codegen.errors import XiokvError
from xiokv.codegen.render.text import one_line
from xiokv.codegen.upstream.refs import Refs, as_commit, choose, parse_advertisement
from xiokv.codegen.upstream.source import NotFoundError
from xiokv.codegen.upstream.urls import check_url
from xiokv.codegen.version import VERSION

# Some hosts, GitHub among them, answer info/refs to names that start with "git/" only.
_HEADERS = {"User-Agent": f"git/xiokv-gen/{VERSION}", "Accept-Encoding": "identity"}
_CHUNK = 1 << 16
_OBJECT = re.compile(r"^\w+\(host='[^']*', port=\w+\): |^<[^>]*>: ")  # whose error it is


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds to connect, between two reads and in all; bytes; redirects followed."""

    connect: float = 10
    read: float = 30
    total: float = 120
    max_bytes: int = 8 << 20
    redirects: int = 5


class Web:
    """The upstream repository, asked over HTTPS."""

    def __init__(self, upstream: Upstream, limits: Limits | None = None) -> None:
        """Ask the addresses of `upstream`."""
        self._upstream = upstream
        self._limits = limits or Limits()

    def refs(self) -> Refs:
        """Return the server's list of refs."""
        url = f"{self._upstream.repository}/info/refs?service=git-upload-pack"
        return parse_advertisement(get(url, self._limits))

    def resolve(self, ref: str) -> str:
        """Return the commit that `ref` names, by the server's list of refs."""
        return as_commit(ref) or choose(self.refs(), ref)

    def read(self, commit: str, path: str) -> bytes:
        """Return one file at a commit."""
        return get(self._upstream.url_of(commit, path), self._limits)


def get(url: str, limits: Limits) -> bytes:
    """Return the body that `url` leads to, within all the limits."""
    return _within(limits.total, url, lambda: _follow(url, limits))


class _NoCredentials(AuthBase):
    """Adds nothing; that there is one keeps requests from reading ~/.netrc."""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        return request


def _within(seconds: float, url: str, action: Callable[[], bytes]) -> bytes:
    """Run `action` for so long at most.

    requests bounds each wait and not their sum, so a server that sends a byte now and
    then holds it for ever; and a name look-up has no bound at all.
    """
    outcome: Future[bytes] = Future()

    def work() -> None:
        try:
            outcome.set_result(action())
        except BaseException as error:  # handed over to the caller's thread
            outcome.set_exception(error)

    Thread(target=work, daemon=True).start()
    try:
        return outcome.result(timeout=seconds)
    except FutureTimeoutError:
        raise XiokvError(f"{url}: not complete after {seconds:g} s; try again later") from None


def _follow(url: str, limits: Limits) -> bytes:
    """Follow redirects by hand: each address is checked before it is asked."""
    with requests.Session() as session:
        session.headers.update(_HEADERS)
        session.auth = _NoCredentials()
        here = url
        for _ in range(limits.redirects + 1):
            try:
                answer = _ask(session, here, limits)
            except (OSError, ValueError) as error:  # all that requests and its parts raise
                raise XiokvError(
                    f"{here}: cannot be fetched: {_reason(error)}; check the network and the"
                    " proxy, or give a git directory by --from"
                ) from error
            if isinstance(answer, bytes):
                return answer
            here = answer
    raise XiokvError(f"{url}: more than {limits.redirects} redirects, the last to {here}")


def _reason(error: BaseException) -> str:
    """Return what the system or the server said, without the classes that passed it on."""
    found, seen = error, {id(error)}
    while True:
        held = [getattr(found, "reason", None), *found.args[::-1], found.__cause__]
        inner = next((one for one in held if isinstance(one, BaseException)), None)
        if inner is None or id(inner) in seen:
            break
        seen.add(id(inner))
        found = inner
    while isinstance(found.__context__, OSError) and not getattr(found, "strerror", None):
        found = found.__context__  # urllib3 wraps what the system said into text
    said = getattr(found, "strerror", None) or str(found)
    return one_line(_OBJECT.sub("", said)) or type(found).__name__


def _ask(session: requests.Session, url: str, limits: Limits) -> bytes | str:
    """Ask one address; return the body, or the address it redirects to."""
    fault = check_url(url)
    if fault:
        raise XiokvError(fault)
    waits = (limits.connect, limits.read)
    with session.get(url, stream=True, allow_redirects=False, timeout=waits) as response:
        if response.is_redirect:
            return _redirected(url, response.headers["Location"])
        if response.status_code == requests.codes.not_found:
            raise NotFoundError(f"{url}: the server answers 404 Not Found")
        if response.status_code != requests.codes.ok:
            raise XiokvError(
                f"{url}: the server answers {response.status_code} {response.reason}, not 200 OK"
            )
        return _body(url, response, limits.max_bytes)


def _redirected(url: str, location: str) -> str:
    target = urljoin(url, location)
    if urlsplit(url).scheme == "https" and urlsplit(target).scheme != "https":
        raise XiokvError(f"{url}: redirected to {target}; only https is followed from there")
    return target


def _body(url: str, response: requests.Response, max_bytes: int) -> bytes:
    """Return the body; urllib3 raises where it is shorter than announced."""
    body = bytearray()
    for chunk in response.iter_content(_CHUNK):
        body += chunk
        if len(body) > max_bytes:
            raise XiokvError(f"{url}: more than {max_bytes} bytes; that is no header file")
    return bytes(body)
