"""Over the network: whole bodies from allowed addresses, or an error that says why."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from xiokv.codegen.errors import XiokvError
from xiokv.codegen.upstream.source import NotFoundError
from xiokv.codegen.upstream.web import Limits, get

LIMITS = Limits(connect=2, read=2, total=5, max_bytes=1000, redirects=3)


def test_the_whole_body_comes(server: Any) -> None:
    body = bytes(range(256))
    assert get(server.answer("/h", body), LIMITS) == body


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"status": 500}, "answers 500"),
        ({"status": 204}, "answers 204"),
        ({"status": 401}, "answers 401"),
        ({"body": b"x" * 1001}, "more than 1000 bytes"),
        ({"body": b"x" * 10, "length": 20}, "10 more expected"),
        ({"status": 302}, "answers 302"),
    ],
)
def test_anything_but_one_whole_answer_is_an_error(
    server: Any, how: dict[str, Any], message: str
) -> None:
    url = server.answer("/h", how.pop("body", b"int x;"), **how)
    with pytest.raises(XiokvError, match=message) as caught:
        get(url, LIMITS)
    assert url in str(caught.value)


def test_a_body_at_the_limit_is_taken(server: Any) -> None:
    assert len(get(server.answer("/h", b"x" * 1000), LIMITS)) == 1000


def test_a_missing_file_is_told_from_other_failures(server: Any) -> None:
    with pytest.raises(NotFoundError, match="404"):
        get(server.url + "/none", LIMITS)


def test_a_server_that_drips_is_left_at_the_total_limit(server: Any) -> None:
    url = server.answer("/h", b"x" * 1000, drip=True)
    start = time.monotonic()
    with pytest.raises(XiokvError, match=r"not complete after 0\.2 s"):
        get(url, Limits(total=0.2))
    assert time.monotonic() - start < 1


def test_a_server_that_says_nothing_is_left_at_the_read_limit(server: Any) -> None:
    url = server.answer("/h", b"x" * 2, length=50, drip=True)
    start = time.monotonic()
    with pytest.raises(XiokvError, match="timed out"):
        get(url, Limits(read=0.2, total=5))
    assert time.monotonic() - start < 1


def test_no_server_is_an_error_that_offers_another_source(server: Any) -> None:
    url = server.url
    server.close()
    with pytest.raises(XiokvError, match="--from"):
        get(url, LIMITS)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1:1/h", "Connection refused"),
        ("https://127.0.0.1:1/h", "Connection refused"),
        ("http://no-such-host.localhost.invalid/h", "not known|resolution|No address"),
    ],
)
def test_a_reason_is_the_systems_and_names_no_class(
    url: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xiokv.codegen.upstream.web.check_url", lambda url: None)
    with pytest.raises(XiokvError) as caught:
        get(url, LIMITS)
    said = str(caught.value)
    assert re.search(rf"^{re.escape(url)}: cannot be fetched: [^()<>]*({reason})[^()<>]*;", said)
    assert not re.search("Error|Pool|Max retries|urllib3|object at", said)


def test_a_proxy_that_is_gone_is_named_without_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    with pytest.raises(XiokvError) as caught:
        get("https://upstream.example/h", LIMITS)
    assert "cannot be fetched: Connection refused; check the network" in str(caught.value)


def test_redirects_are_followed(server: Any) -> None:
    server.answer("/b", b"int x;")
    assert get(server.redirect("/a", "/b"), LIMITS) == b"int x;"


def test_a_redirect_loop_ends(server: Any) -> None:
    with pytest.raises(XiokvError, match="more than 3 redirects"):
        get(server.redirect("/a", "/a"), LIMITS)
    assert len(server.asked) == 4


def test_one_redirect_too_many_is_refused(server: Any) -> None:
    for hop in range(4):
        server.redirect(f"/{hop}", f"/{hop + 1}")
    server.answer("/4", b"int x;")
    assert get(server.url + "/1", LIMITS) == b"int x;"
    with pytest.raises(XiokvError, match="more than 3 redirects"):
        get(server.url + "/0", LIMITS)


def test_https_is_fetched(tls_server: Any) -> None:
    assert get(tls_server.answer("/h", b"int x;"), LIMITS) == b"int x;"


def test_an_unknown_certificate_is_refused(
    tls_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    with pytest.raises(XiokvError, match="CERTIFICATE_VERIFY_FAILED"):
        get(tls_server.answer("/h", b"int x;"), LIMITS)


def test_no_redirect_leads_from_https_to_http(server: Any, tls_server: Any) -> None:
    url = tls_server.redirect("/h", server.answer("/h", b"int x;"))
    with pytest.raises(XiokvError, match="only https"):
        get(url, LIMITS)
    assert server.asked == []


@pytest.mark.parametrize(
    "target",
    [
        "http://upstream.example/h",
        "https://user:secret@upstream.example/h",
        "file:///etc/passwd",
        "ftp://127.0.0.1/h",
        "https:///h",
        "http://[::1/h",
    ],
)
def test_a_redirect_to_a_forbidden_address_is_not_followed(server: Any, target: str) -> None:
    with pytest.raises(XiokvError) as caught:
        get(server.redirect("/h", target), LIMITS)
    assert "secret" not in str(caught.value)
    assert len(server.asked) == 1


def test_credentials_of_netrc_are_not_sent(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n", encoding="utf-8")
    netrc.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(netrc))
    server.answer("/b", b"int x;")
    get(server.redirect("/a", "/b"), LIMITS)
    assert [headers["Authorization"] for _, headers in server.asked] == [None, None]


def test_requests_name_the_tool_as_a_git_client(server: Any) -> None:
    get(server.answer("/h", b"int x;"), LIMITS)
    assert server.asked[0][1]["User-Agent"].startswith("git/xiokv-gen/")


def test_a_proxy_is_used(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    server.answer("http://localhost:1/h", b"int x;")
    monkeypatch.setenv("no_proxy", "none.example")
    assert get("http://localhost:1/h", LIMITS) == b"int x;"
