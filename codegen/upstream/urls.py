"""Which addresses may be fetched: https, http to this machine, and no credentials."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


def check_url(url: str) -> str | None:
    """Return why `url` may not be fetched, or None where it may."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port  # both are checked by being asked for
    except ValueError as error:
        return f"{url!r} is no URL: {error}"
    if not url.isprintable() or " " in url:
        return f"{url!r} holds blanks or control characters"
    if not host:
        return f"{url!r} names no host; write https://HOST/..."
    if parts.username is not None or parts.password is not None:
        return f"the URL for {host} holds credentials; only public addresses are fetched"
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host)):
        return None
    return f"{url!r} is not https (http is allowed to this machine only)"


def is_loopback(host: str) -> bool:
    """Tell whether a host name means this machine, without asking a resolver."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
