"""Where a store in a Ceph cluster is, and as whom: a URL in, checked members out.

``rados://pool/namespace?conf=/etc/ceph/ceph.conf&user=client.kv``. What the URL does not say
is as for every Ceph client: ``ceph.conf`` is looked for in ``$CEPH_CONF``, ``/etc/ceph``,
``~/.ceph`` and the working folder, and names the monitors and the keyring; ``CEPH_ARGS`` goes
above it.
"""

from __future__ import annotations

import argparse
import os
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from xiokv.runtime.arguments import check_options, number
from xiokv.runtime.errors import ArgumentFault

SCHEME = "rados"

_EXAMPLE = f"{SCHEME}://pool/namespace?conf=/etc/ceph/ceph.conf&user=client.kv"
_TYPE = "client."
_ADMIN = "admin"
_NAMESPACE_MAX = 256  # bytes, osd_max_object_namespace_len
_YES, _NO = ("1", "true", "yes"), ("0", "false", "no")
_SHORTEST, _LONGEST = 0.001, 86400.0  # seconds
_NUMBER = re.compile(r"[0-9]*\.?[0-9]+([eE][+-]?[0-9]{1,4})?|[0-9]+\.")
_BAD_PERCENT = re.compile("%(?![0-9A-Fa-f]{2}).{0,2}")
_QUOTING = "\"'\\"

#: Options of a controller that are of the store in memory; a cluster decides for itself.
MEMORY_ONLY = ("capacity", "max_keys", "hashed_list", "wrap_list")


@dataclass(frozen=True, slots=True, kw_only=True)
class RadosUrl:
    """A pool and a namespace of a Ceph cluster.

    Attributes:
        pool: its name.
        name_space: RADOS namespace, which is a tenant's; "" is the pool's unnamed one.
        conf: path of the configuration file; "" for the one of ``CEPH_ARGS``, else for the one
            that is found.
        user: name of the Ceph user, with or without its type ``client.``; "" for the one of
            ``CEPH_ARGS``, else ``client.admin``.
        keyring: path; "" as the configuration says.
        cluster: name of the cluster, of which the configuration's file name is made.
        timeout: seconds after which a command that is not answered fails with status 82h; less
            than the runtime's own, which gives up a whole queue.
        connect_timeout: seconds to reach a monitor; a fraction counts as a whole one.
        read_only: Store and Delete fail with status 20h.
    """

    pool: str
    name_space: str = ""
    conf: str = ""
    user: str = ""
    keyring: str = ""
    cluster: str = "ceph"
    timeout: float = 4.0
    connect_timeout: float = 5.0
    read_only: bool = False

    @classmethod
    def parse(cls, url: str) -> RadosUrl:
        """Return what a URL says; its parts are percent-encoded where need be.

        Raises:
            ArgumentFault: it is no such URL, or says something that is not allowed.
        """
        parts = _split(url)
        try:
            pool = unquote(parts.netloc, errors="strict")
            name_space = unquote(parts.path.removeprefix("/"), errors="strict")
            members = _members(url, parts.query)
        except UnicodeDecodeError as error:
            raise ArgumentFault(f"store {url!r} is not UTF-8 when decoded: {error}") from error
        if not pool:
            raise ArgumentFault(f"store {url!r} names no pool; an example is {_EXAMPLE}")
        for what, text in (("pool", pool), ("namespace", name_space)):
            if "/" in text or not text.isprintable():
                raise ArgumentFault(f"store {url!r}: {what} {text!r} is none; see {_EXAMPLE}")
        if len(name_space.encode()) > _NAMESPACE_MAX:
            raise ArgumentFault(
                f"the namespace has {len(name_space.encode())} bytes; allowed are {_NAMESPACE_MAX}"
            )
        return cls(pool=pool, name_space=name_space, **{**_environment(), **members})

    def __post_init__(self) -> None:
        """Refuse a user without a name, and times that are none."""
        if self.entity == _TYPE:
            raise ArgumentFault(f"user is {self.user!r}, which names nobody")
        for name in ("timeout", "connect_timeout"):
            time = number(name, getattr(self, name))
            if not _SHORTEST <= time <= _LONGEST:
                _refuse_time(name, time)

    @property
    def title(self) -> str:
        """What messages call it."""
        space = f"namespace {self.name_space}" if self.name_space else "the unnamed namespace"
        return f"pool {self.pool}, {space}"

    @property
    def shortest(self) -> str:
        """The URL without options."""
        return "/".join([f"{SCHEME}:/", quote(self.pool), *filter(None, [quote(self.name_space)])])

    @property
    def entity(self) -> str:
        """Name of the user with its type; the name itself may have dots."""
        return f"{_TYPE}{self.user.removeprefix(_TYPE) if self.user else _ADMIN}"


def _environment() -> dict[str, str]:
    """Return what CEPH_ARGS says of user and configuration; librados takes the rest of it."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--id", "--user", "-i", dest="user")
    parser.add_argument("--name", "-n", dest="name")
    parser.add_argument("--conf", "-c", dest="conf")
    parser.add_argument("--cluster", dest="cluster")
    text = os.environ.get("CEPH_ARGS", "")
    if not text.isprintable() or any(sign in text for sign in _QUOTING):
        raise ArgumentFault(
            f"CEPH_ARGS is {text!r}; only spaces part its words, and Ceph's programs take quotes,"
            " backslashes and tabs as they stand: leave them out"
        )
    try:
        said = vars(parser.parse_known_args(text.split())[0])
    except argparse.ArgumentError as error:
        raise ArgumentFault(f"CEPH_ARGS is {text!r}, which cannot be read: {error}") from error
    name = said.pop("name")
    if name is not None and not name.startswith(_TYPE):
        raise ArgumentFault(f"CEPH_ARGS names {name!r}; a store is opened as a {_TYPE}NAME")
    said["user"] = said["user"] or name
    return {what: value for what, value in said.items() if value}


def _split(url: str) -> SplitResult:
    """Return the parts of a URL, still encoded; urlsplit would leave out tabs and line ends."""
    if not url.isprintable():
        raise ArgumentFault(f"store {url!r} has signs that are not printable; encode them as %0A")
    if wrong := _BAD_PERCENT.search(url):
        raise ArgumentFault(
            f"store {url!r} has {wrong[0]!r}; two hex digits follow a percent sign, and one for"
            " itself is %25"
        )
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise ArgumentFault(
            f"store {url!r} is no URL of a Ceph pool, such as {_EXAMPLE}: {error}"
        ) from error
    if parts.scheme != SCHEME or parts.fragment:
        raise ArgumentFault(f"store {url!r} is no URL of a Ceph pool, such as {_EXAMPLE}")
    return parts


def _members(url: str, query: str) -> dict[str, Any]:
    """Return what the part of a URL after the question mark says."""
    try:
        given = parse_qsl(
            query, keep_blank_values=True, strict_parsing=bool(query), errors="strict"
        )
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        raise ArgumentFault(f"store {url!r}: {error}; an example is {_EXAMPLE}") from error
    kinds = {field.name: field.type for field in fields(RadosUrl)}
    allowed = [name for name in kinds if name not in ("pool", "name_space")]
    names = [name for name, _ in given]
    for name in names:
        if name in MEMORY_ONLY:
            refuse_memory_only(name)
    check_options(f"store {url!r}", names, allowed)
    if twice := [name for name in names if names.count(name) > 1]:
        raise ArgumentFault(f"store {url!r} says {twice[0]} twice")
    return {name: _value(name, kinds[name], text) for name, text in given}


def refuse_memory_only(name: str) -> NoReturn:
    """Refuse an option of `MEMORY_ONLY`."""
    raise ArgumentFault(
        f"{name} is of the store in memory; of a Ceph pool, a quota limits what is stored, and the"
        " order of List is the cluster's: leave it out"
    )


def _refuse_time(name: str, seen: object) -> NoReturn:
    raise ArgumentFault(
        f"{name} is {seen!r}; allowed are {_SHORTEST:g} to {_LONGEST:g} seconds, such as 2.5"
    )


def _value(name: str, kind: Any, text: str) -> Any:
    if kind == "bool":
        if text.lower() not in (*_YES, *_NO):
            raise ArgumentFault(f"{name} is {text!r}; allowed are {', '.join((*_YES, *_NO))}")
        return text.lower() in _YES
    if kind == "float":
        if not _NUMBER.fullmatch(text) or not _SHORTEST <= float(text) <= _LONGEST:
            _refuse_time(name, text)
        return float(text)
    if not text:
        raise ArgumentFault(f"{name} is empty; leave it out for the default")
    if not text.isprintable():
        raise ArgumentFault(f"{name} is {text!r}, which has signs that are not printable")
    return str(Path(text).expanduser()) if name in ("conf", "keyring") else text
