"""The URL of a store on Ceph: what it says, and how it is refused. No cluster is needed."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from xiokv.runtime import ArgumentFault, Emulator
from xiokv.runtime.rados import RadosUrl

SAID: dict[str, tuple[str, dict[str, Any]]] = {
    "a pool alone": ("rados://p", {"pool": "p"}),
    "a pool and a slash": ("rados://p/", {"pool": "p", "name_space": ""}),
    "a pool and a namespace": ("rados://p/tenant-7", {"name_space": "tenant-7"}),
    "capitals": ("rados://Pool.A/Tenant_B", {"pool": "Pool.A", "name_space": "Tenant_B"}),
    "percent-encoded": (
        "rados://a%20pool%3f/t%C3%A9n%25?conf=%2Fa%20b%26c",
        {"pool": "a pool?", "name_space": "tén%", "conf": "/a b&c"},
    ),
    "not encoded": ("rados://pööl/tén", {"pool": "pööl", "name_space": "tén"}),
    "a pool with signs of an address": ("rados://me:you@p", {"pool": "me:you@p"}),
    "all": (
        "rados://p/n?conf=/c&user=kv&keyring=/k&cluster=x&timeout=2.5&connect_timeout=1&read_only=1",
        {
            "pool": "p",
            "name_space": "n",
            "conf": "/c",
            "user": "kv",
            "keyring": "/k",
            "cluster": "x",
            "timeout": 2.5,
            "connect_timeout": 1.0,
            "read_only": True,
        },
    ),
    "nothing said": (
        "rados://p",
        {
            "name_space": "",
            "conf": "",
            "keyring": "",
            "cluster": "ceph",
            "timeout": 4.0,
            "connect_timeout": 5.0,
            "read_only": False,
            "entity": "client.admin",
        },
    ),
    "a path of one's own": (
        "rados://p?conf=~/c&keyring=~/k",
        {"conf": str(Path("~/c").expanduser()), "keyring": str(Path("~/k").expanduser())},
    ),
    "the longest time": ("rados://p?timeout=86400", {"timeout": 86400.0}),
    "the shortest time": ("rados://p?connect_timeout=1e-3", {"connect_timeout": 0.001}),
    "read-only": ("rados://p?read_only=true", {"read_only": True}),
    "read-only in capitals": ("rados://p?read_only=YES", {"read_only": True}),
    "not read-only": ("rados://p?read_only=0", {"read_only": False}),
    "not read-only by a word": ("rados://p?read_only=no", {"read_only": False}),
}


@pytest.mark.parametrize(("url", "members"), SAID.values(), ids=SAID)
def test_what_a_url_says(url: str, members: dict[str, Any]) -> None:
    place = RadosUrl.parse(url)
    assert {name: getattr(place, name) for name in members} == members


@pytest.mark.parametrize(
    ("user", "entity"),
    [
        ("kv", "client.kv"),
        ("client.kv", "client.kv"),
        ("kv.europe", "client.kv.europe"),
        ("client.kv.europe", "client.kv.europe"),
        ("clients", "client.clients"),
    ],
)
def test_a_user_is_named_with_or_without_its_type(user: str, entity: str) -> None:
    assert RadosUrl.parse(f"rados://p?user={user}").entity == entity


REFUSED = {
    "no slashes": ("rados:pool", "store is 'rados:pool'; allowed are: memory, rados://..."),
    "another scheme": ("http://pool", "allowed are: memory, rados://..."),
    "nothing": ("", "store is ''; allowed are"),
    "the scheme in capitals": ("RADOS://pool", "allowed are: memory, rados://..."),
    "no pool": ("rados://", "names no pool; an example is rados://pool/namespace?conf="),
    "no pool, but a namespace": ("rados:///tenant", "names no pool; an example is"),
    "no pool, but a query": ("rados://?conf=/c", "names no pool; an example is"),
    "a folder in a namespace": ("rados://p/a/b", "namespace 'a/b' is none"),
    "a slash in a pool": ("rados://p%2Fq/a", "pool 'p/q' is none"),
    "a zero byte in a pool": ("rados://p%00q", r"pool 'p\x00q' is none"),
    "a new line in a namespace": ("rados://p/a%0Ab", r"namespace 'a\nb' is none"),
    "a new line in the URL": ("rados://po\nol/a", "not printable"),
    "a tab in the URL": ("rados://p/a\tb", "not printable"),
    "a bracket": ("rados://[p/a", "is no URL of a Ceph pool"),
    "a sign that stands for a slash": ("rados://p\u2100/a", "is no URL of a Ceph pool"),
    "no text when decoded": ("rados://p%FF/a", "is not UTF-8"),
    "no text in a value": ("rados://p?user=%FF", "is not UTF-8"),
    "no hex digits after a percent sign": ("rados://p/%zz", "has '%zz'; two hex digits follow"),
    "one hex digit": ("rados://p/a%4", "has '%4'; two hex digits follow a percent sign"),
    "a percent sign at the end": ("rados://p%", "has '%'; two hex digits follow a percent sign"),
    "a percent sign in a value": ("rados://p?conf=/a%g0", "and one for itself is %25"),
    "a percent sign in a name": ("rados://p?co%nf=/a", "has '%nf'; two hex digits follow"),
    "a fragment": ("rados://p/a#b", "is no URL of a Ceph pool, such as rados://pool/namespace"),
    "an unknown member": ("rados://p?config=/c", "has no option 'config'; the nearest is 'conf'"),
    "nothing near": ("rados://p?value_max=5", "has no option 'value_max'; allowed: conf, user, "),
    "what memory has": ("rados://p?capacity=5", "capacity is of the store in memory; of a Ceph"),
    "what memory has, too": (
        "rados://p?conf=/c&wrap_list=1",
        "wrap_list is of the store in memory",
    ),
    "another unknown member": ("rados://p?time=3", "the nearest is 'timeout' (allowed: conf, user"),
    "a member in capitals": ("rados://p?USER=kv", "has no option 'USER'; the nearest is 'user'"),
    "the pool as a member": ("rados://p?pool=q", "has no option 'pool'"),
    "a member twice": ("rados://p?conf=/c&user=kv&conf=/d", "says conf twice"),
    "a member without a value": ("rados://p?conf", "bad query field: 'conf'"),
    "a member with an empty value": ("rados://p?conf=", "conf is empty; leave it out"),
    "a zero byte": ("rados://p?user=a%00b", r"user is 'a\x00b', which has signs"),
    "a new line in a value": ("rados://p?conf=/a%0Ab", r"conf is '/a\nb', which has signs"),
    "no user but a type": ("rados://p?user=client.", "user is 'client.', which names nobody"),
    "no number": (
        "rados://p?timeout=soon",
        "timeout is 'soon'; allowed are 0.001 to 86400 seconds, such as 2.5",
    ),
    "an empty number": (
        "rados://p?timeout=",
        "timeout is ''; allowed are 0.001 to 86400 seconds, such as 2.5",
    ),
    "not a number": (
        "rados://p?timeout=nan",
        "timeout is 'nan'; allowed are 0.001 to 86400 seconds, such as 2.5",
    ),
    "no end": (
        "rados://p?connect_timeout=inf",
        "connect_timeout is 'inf'; allowed are 0.001 to 86400 seconds, such as 2.5",
    ),
    "no end by its long name": (
        "rados://p?timeout=Infinity",
        "timeout is 'Infinity'; allowed are 0.001 to 86400 seconds",
    ),
    "a number past all": (
        "rados://p?timeout=1e999",
        "timeout is '1e999'; allowed are 0.001 to 86400 seconds, such as 2.5",
    ),
    "no time": (
        "rados://p?timeout=0",
        "timeout is '0'; allowed are 0.001 to 86400 seconds, such as 2.5",
    ),
    "a time before": (
        "rados://p?connect_timeout=-1",
        "connect_timeout is '-1'; allowed are 0.001 to 86400 seconds",
    ),
    "a sign": (
        "rados://p?timeout=%2B1",
        "timeout is '+1'; allowed are 0.001 to 86400 seconds, such as 2.5",
    ),
    "a hexadecimal number": (
        "rados://p?timeout=0x10",
        "timeout is '0x10'; allowed are 0.001 to 86400 seconds, such as 2.5",
    ),
    "underscores": (
        "rados://p?timeout=1_0",
        "timeout is '1_0'; allowed are 0.001 to 86400 seconds, such as 2.5",
    ),
    "digits of others": (
        "rados://p?timeout=%D9%A3",
        "timeout is '٣'; allowed are 0.001 to 86400 seconds, such as 2.5",
    ),
    "spaces": (
        "rados://p?timeout=%201",
        "timeout is ' 1'; allowed are 0.001 to 86400 seconds, such as 2.5",
    ),
    "a unit": (
        "rados://p?timeout=3s",
        "timeout is '3s'; allowed are 0.001 to 86400 seconds, such as 2.5",
    ),
    "too short": (
        "rados://p?timeout=0.0001",
        "timeout is '0.0001'; allowed are 0.001 to 86400 seconds, such as 2.5",
    ),
    "too long": (
        "rados://p?timeout=86401",
        "timeout is '86401'; allowed are 0.001 to 86400 seconds, such as 2.5",
    ),
    "neither yes nor no": ("rados://p?read_only=2", "read_only is '2'; allowed are 1, true, yes"),
    "yes or no, empty": ("rados://p?read_only=", "read_only is ''; allowed are 1, true, yes"),
}


@pytest.mark.parametrize(("url", "said"), REFUSED.values(), ids=REFUSED)
def test_a_url_is_refused_by_what_is_wrong_with_it(url: str, said: str) -> None:
    """Before anything is compiled or connected to; the message is one line."""
    with pytest.raises(ArgumentFault, match=re.escape(said)) as caught:
        Emulator(store=url)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("time", [math.nan, math.inf, -1.0, 0.0, 1e9, "4", None, True], ids=repr)
@pytest.mark.parametrize("name", ["timeout", "connect_timeout"])
def test_a_time_is_within_limits_however_it_is_given(name: str, time: Any) -> None:
    with pytest.raises(ArgumentFault, match=f"^{name} is {time!r}; allowed "):
        RadosUrl(pool="p", **{name: time})


@pytest.mark.parametrize("url", ["rados://p", "rados://p/n", "rados://p%20q/a%25b"])
def test_a_url_without_its_options(url: str) -> None:
    assert RadosUrl.parse(f"{url}?timeout=3").shortest == url
    assert (
        RadosUrl.parse(f"{url}?timeout=3").title
        == {
            "rados://p": "pool p, the unnamed namespace",
            "rados://p/n": "pool p, namespace n",
            "rados://p%20q/a%25b": "pool p q, namespace a%b",
        }[url]
    )


@pytest.mark.parametrize("store", [None, 5, b"rados://p", Path("rados://p")], ids=repr)
def test_a_store_is_a_text(store: Any) -> None:
    with pytest.raises(ArgumentFault, match="allowed are: memory, rados://"):
        Emulator(store=store)


@pytest.mark.parametrize(
    "option",
    [{"capacity": 1 << 30}, {"max_keys": 5}, {"hashed_list": True}, {"wrap_list": True}],
    ids=lambda option: next(iter(option)),
)
def test_what_only_memory_has_is_refused(option: dict[str, Any]) -> None:
    with pytest.raises(ArgumentFault, match=f"{next(iter(option))} is of the store in memory;"):
        Emulator(store="rados://p/n", **option)


@pytest.mark.parametrize(
    ("arguments", "query", "entity", "conf"),
    [
        ("--id reader", "", "client.reader", ""),
        ("--user=reader --keyring /k", "", "client.reader", ""),
        ("-n client.reader -c /c", "", "client.reader", "/c"),
        ("--id reader --conf /c", "?user=kv&conf=/d", "client.kv", "/d"),
        ("--debug-ms 1", "", "client.admin", ""),
    ],
)
def test_ceph_args_say_what_the_url_leaves_out(
    monkeypatch: pytest.MonkeyPatch, arguments: str, query: str, entity: str, conf: str
) -> None:
    monkeypatch.setenv("CEPH_ARGS", arguments)
    found = RadosUrl.parse(f"rados://p{query}")
    assert (found.entity, found.conf) == (entity, conf)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--id 'reader", "take quotes, backslashes and tabs as they stand: leave them out"),
        ('--keyring "/a"', "only spaces part its words"),
        ("--keyring /a\\ b", "only spaces part its words"),
        ("--id\treader", "only spaces part its words"),
        ("--conf=/a --id", "which cannot be read: argument --id/--user/-i: expected one argument"),
        ("--id", "which cannot be read"),
        ("--name osd.0", "CEPH_ARGS names 'osd.0'"),
    ],
)
def test_ceph_args_that_cannot_be_are_refused(
    monkeypatch: pytest.MonkeyPatch, arguments: str, said: str
) -> None:
    monkeypatch.setenv("CEPH_ARGS", arguments)
    with pytest.raises(ArgumentFault, match=said):
        RadosUrl.parse("rados://p")


def test_a_namespace_longer_than_an_osd_takes_is_refused() -> None:
    assert RadosUrl.parse(f"rados://p/{'n' * 256}").name_space == "n" * 256
    with pytest.raises(ArgumentFault, match="the namespace has 257 bytes; allowed are 256"):
        RadosUrl.parse(f"rados://p/{'n' * 257}")
