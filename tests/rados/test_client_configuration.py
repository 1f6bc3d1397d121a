"""What a store is opened by, and is wrong: one line says what, and librados ends no process.

Each case is a process of its own, which has to print what was refused and nothing else.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .cluster import Cluster

PROGRAM = """
import sys
from xiokv import runtime

try:
    runtime.Emulator(store=sys.argv[1]).close()
    print("opened")
except runtime.RuntimeFault as fault:
    print(fault)
"""

Open = Callable[..., str]


@pytest.fixture
def opened(cluster: Cluster, own_surroundings: None) -> Open:
    """Return what opens a store in a process, and returns the one line that came of it."""

    def call(arguments: str = "", says: str = "", **url: object) -> str:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, cluster.url(**{"connect_timeout": 3, **url})],
            env={**os.environ, "CEPH_ARGS": arguments},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, (arguments, done.returncode, done.stderr)
        assert says in done.stderr
        assert says or not done.stderr
        (line,) = done.stdout.splitlines()
        return line

    return call


NO_VALUE = (
    *("--keyring", "-k", "--keyfile", "-K", "--mon-host", "--mon_host", "-m", "--monmap", "-M"),
    *("--client-mountpoint", "-r", "--show-config-value", "-k /a --keyring", "--show-config -m"),
)


@pytest.mark.parametrize("arguments", NO_VALUE)
def test_an_option_without_its_value_is_named(opened: Open, arguments: str) -> None:
    last = arguments.split()[-1]
    assert f"CEPH_ARGS ends with {last}, which needs a value" in opened(arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--bind", "CEPH_ARGS has --bind, which is of daemons"),
        ("--bind=nowhere", "CEPH_ARGS has --bind, which is of daemons"),
        ("--ms-type=carrier", "ms_type is 'carrier'; this machine has async+posix"),
        ("--ms-type async+dpdk", "ms_type is 'async+dpdk'; this machine has async+posix"),
        ("--ms_public_type simple", "ms_public_type is 'simple'; this machine has async+posix"),
        ("--mon-host 999.9.9.9", "/ceph.conf: 999.9.9.9: Name or service not known"),
        ("--mon-host --id reader", ": --id: "),
        ("--mon-host [::1];nowhere.invalid", ": nowhere.invalid: "),
        ("--mon-host [v2", "no monitor is found by mon_host '[v2' of "),
        ("--mon-host=", "no monitor is found by mon_host ''"),
        ("--monmap /nowhere", "no monitor is found by"),
        ("--keyring=", "there is no keyring that can be read at "),
        ("--keyfile /nowhere", "by the key in /nowhere: Permission denied"),
    ],
)
def test_what_librados_ends_a_process_for_or_writes_about_is_one_line(
    opened: Open, arguments: str, said: str
) -> None:
    assert said in opened(arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--debug-ms", "CEPH_ARGS ends with --debug-ms, which needs a value"),
        ("--debug-ms=loud", "CEPH_ARGS says debug_ms is 'loud'"),
        ("--debug_ms loud", "CEPH_ARGS says debug_ms is 'loud'"),
        ("--objecter-inflight-ops -1", "CEPH_ARGS says objecter_inflight_ops is '-1'"),
        ("--rados-osd-op-timeout=soon", "CEPH_ARGS says rados_osd_op_timeout is 'soon'"),
        ("--fsid=1", "CEPH_ARGS says fsid is '1'"),
        ("--log-to-stderr=perhaps", "CEPH_ARGS says log_to_stderr is 'perhaps'"),
    ],
)
def test_a_value_that_an_option_cannot_have_is_named(
    opened: Open, arguments: str, said: str
) -> None:
    """Librados leaves such an option out, and says so before it can be told not to."""
    assert said in opened(arguments, says="parse error setting")


@pytest.mark.parametrize(
    "arguments",
    [
        *("--debug-ms 0", "--debug-ms=0/5", "--log-to-stderr", "--log-to-stderr true", "stray"),
        *("--nobody-knows-this", "--nobody-knows=this", "-- --keyring", "-", "--", "-d -f"),
        *("--show-config-value fsid", "--ms-type=async", "  --debug-ms  1  "),
    ],
)
def test_what_librados_takes_is_taken(opened: Open, arguments: str) -> None:
    assert opened(arguments) == "opened"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no monitor is found by mon_host ''"),
        ("[mon.a]\nhost = nobody\n", "no monitor is found by mon_host ''"),
        ("[global]\nmon_host = nowhere.invalid\n", ": nowhere.invalid: "),
        ("[global\n", "cannot read the configuration"),
        ("[global]\nms_type = carrier\n", "ms_type is 'carrier'"),
        ("[global]\nkeyring = /tést\n", "line 2 of"),
        ("\ufeff[global]\n", "line 1 of"),
        ("[global]\nx = \\# ü\n", "line 2 of"),
    ],
)
def test_a_configuration_that_will_not_do_is_one_line(
    opened: Open, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "ceph.conf"
    path.write_text(text, encoding="utf-8")
    line = opened(conf=path)
    assert said in line
    assert str(path) in line or "_type" in said or "_host" in said


def test_a_configuration_that_was_found_is_looked_at_too(
    opened: Open, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "found.conf"
    path.write_text("[global]\nx = ü\n", encoding="utf-8")
    monkeypatch.setenv("CEPH_CONF", f"/nowhere,{path}")
    monkeypatch.setattr(Cluster, "url", lambda cluster, **_: f"rados://{cluster.pool}")
    assert f"line 2 of {path} has the byte C3h; librados reads ASCII alone" in opened()


@pytest.mark.parametrize("comment", ["# für\n", "x = 1 ; für\n", "\t#für\n"])
def test_a_comment_may_have_any_sign(
    opened: Open, cluster: Cluster, tmp_path: Path, comment: str
) -> None:
    path = tmp_path / "ceph.conf"
    path.write_text(cluster.conf.read_text() + comment, encoding="utf-8")
    assert opened(conf=path) == "opened"


def test_a_keyring_of_other_signs_than_ascii_is_named(opened: Open, tmp_path: Path) -> None:
    path = tmp_path / "keyring"
    path.write_text("[client.admin]\nkey = ü\n", encoding="utf-8")
    said = f"line 2 of {path} has the byte C3h; librados reads ASCII alone"
    assert said in opened(keyring=path)
    assert said in opened(f"--keyring {path}")


@pytest.mark.parametrize(
    "says",
    [
        "keyring = {folder}/client.admin.keyring",
        "keyring = {folder}/none,{folder}/client.admin.keyring",
        "keyring = {folder}/$name.keyring",
        "keyring = {folder}/$type.$id.keyring\nkey = AQA=",
    ],
)
def test_a_keyring_that_a_configuration_names_is_looked_at_too(
    opened: Open, cluster: Cluster, tmp_path: Path, says: str
) -> None:
    keyring = tmp_path / "client.admin.keyring"
    keyring.write_text("[client.admin]\nkey = ü\n", encoding="utf-8")
    conf = tmp_path / "ceph.conf"
    conf.write_text(f"{cluster.conf.read_text()}\n[client]\n{says.format(folder=tmp_path)}\n")
    assert f"line 2 of {keyring} has the byte C3h; librados reads ASCII alone" in opened(conf=conf)


def test_a_keyring_of_the_url_stands_for_that_of_the_configuration(
    opened: Open, cluster: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "keyring").write_text("[client.admin]\nkey = ü\n", encoding="utf-8")
    conf = tmp_path / "ceph.conf"
    conf.write_text(f"{cluster.conf.read_text()}\n[client]\nkeyring = {tmp_path}/keyring\n")
    assert opened(conf=conf, keyring=cluster.keyring) == "opened"


def test_a_keyring_that_is_not_read_may_have_any_sign(
    opened: Open, cluster: Cluster, tmp_path: Path
) -> None:
    """The first of a list that can be read is; of it, comments may have them."""
    (tmp_path / "first").write_text(f"# für\n{cluster.keyring.read_text()}", encoding="utf-8")
    (tmp_path / "second").write_text("[client.admin]\nkey = ü\n", encoding="utf-8")
    conf = tmp_path / "ceph.conf"
    lists = f"{tmp_path}/none,{tmp_path}/first,{tmp_path}/second"
    conf.write_text(f"{cluster.conf.read_text()}\n[client]\nkeyring = {lists}\n")
    assert opened(conf=conf) == "opened"
