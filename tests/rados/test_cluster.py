"""The cluster of the tests: what it keeps, and what each harm does to a client."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .cluster import CephError, Cluster

VALUE = os.urandom(100_000)
BENCH = ("bench", "60", "write", "-t", "1", "-b", "4096")
# Seconds for what nobody answers; an answer takes a tenth of one.
IN_VAIN = 1.5


def put(cluster: Cluster, namespace: str, name: str = "name", limit: float = 60) -> None:
    cluster.put(name, VALUE, namespace=namespace, limit=limit)


def get(cluster: Cluster, namespace: str, limit: float = 60) -> bytes:
    return cluster.get("name", namespace=namespace, limit=limit)


def test_an_object_comes_back(cluster: Cluster, namespace: str) -> None:
    put(cluster, namespace)
    assert get(cluster, namespace) == VALUE


def test_a_namespace_is_its_own(cluster: Cluster, namespace: str) -> None:
    put(cluster, namespace)
    assert cluster.names(namespace) == ["name"]
    assert "name" not in cluster.names(f"{namespace}-other")
    cluster.empty(namespace)
    assert cluster.names(namespace) == []


def test_a_url_holds_all_that_a_client_needs(cluster: Cluster) -> None:
    conf = cluster.conf
    assert cluster.url(namespace="tenant") == f"rados://xiokv/tenant?conf={conf}"
    assert cluster.url(pool="p", user="reader", read_only=1) == (
        f"rados://p/?conf={conf}&user=reader&read_only=1"
    )


def test_a_user_may_do_what_its_caps_say(cluster: Cluster, namespace: str) -> None:
    put(cluster, namespace)
    caps = f"allow r pool=xiokv namespace={namespace}"
    keyring = cluster.make_user(f"reader-{namespace}", mon="allow r", osd=caps)
    assert f"[client.reader-{namespace}]" in keyring.read_text(encoding="utf-8")

    user = f"reader-{namespace}"
    assert cluster.get("name", namespace=namespace, user=user) == VALUE
    for arguments, place in ((("rm", "name"), namespace), (("get", "name", "-"), "other")):
        with pytest.raises(CephError) as refused:
            cluster.rados(*arguments, namespace=place, user=user)
        assert "(1) Operation not permitted" in refused.value.said


def test_without_its_key_nobody_comes_in(cluster: Cluster) -> None:
    stranger = cluster.folder / "client.stranger.keyring"
    key = "AQCDAjJnAAAAABAAJnRz1W8oTSQk7sQTzUHWiw=="
    stranger.write_text(f"[client.stranger]\n\tkey = {key}\n", encoding="ascii")
    with pytest.raises(CephError) as refused:
        cluster.rados("ls", user="stranger")
    assert "handle_auth_bad_method" in refused.value.said


def test_a_pool_comes_and_goes(cluster: Cluster, namespace: str) -> None:
    pool = cluster.make_pool()
    cluster.put("name", b"value", pool=pool, namespace=namespace)
    cluster.delete_pool(pool)
    with pytest.raises(CephError) as gone:
        cluster.rados("ls", pool=pool)
    assert "No such file or directory" in gone.value.said


@pytest.mark.slow
@pytest.mark.parametrize("daemon", ["mon", "osd"])
def test_a_stopped_daemon_serves_nobody_and_comes_back_with_all(
    harmed_cluster: Cluster, namespace: str, daemon: str
) -> None:
    put(harmed_cluster, namespace)
    getattr(harmed_cluster, f"stop_{daemon}")()
    with pytest.raises(CephError) as late:
        get(harmed_cluster, namespace, limit=IN_VAIN)
    assert late.value.code == 124
    getattr(harmed_cluster, f"start_{daemon}")()
    assert get(harmed_cluster, namespace) == VALUE


@pytest.mark.slow
@pytest.mark.parametrize("daemon", ["mon", "osd"])
def test_a_paused_daemon_goes_on_after_its_pause(
    cluster: Cluster, namespace: str, daemon: str
) -> None:
    put(cluster, namespace)
    with cluster.paused(daemon), pytest.raises(CephError):
        get(cluster, namespace, limit=IN_VAIN)
    assert get(cluster, namespace) == VALUE


@pytest.mark.slow
def test_a_full_cluster_takes_no_writes_and_gives_what_it_has(
    harmed_cluster: Cluster, namespace: str
) -> None:
    put(harmed_cluster, namespace)
    harmed_cluster.set_full()
    with pytest.raises(CephError) as late:
        put(harmed_cluster, namespace, "other", limit=IN_VAIN)
    assert late.value.code == 124
    assert get(harmed_cluster, namespace) == VALUE
    harmed_cluster.clear_full()
    put(harmed_cluster, namespace, "other")
    assert harmed_cluster.names(namespace) == ["name", "other"]


@pytest.mark.slow
def test_a_client_on_the_blocklist_is_refused(
    harmed_cluster: Cluster, namespace: str, wait_until: Callable[..., None]
) -> None:
    # A client that stays: its commands come one by one.
    user = f"writer-{namespace}"
    harmed_cluster.make_user(user, mon="allow r", osd="allow rw")
    client = subprocess.Popen(
        ["rados", "--conf", harmed_cluster.conf, "--id", user, "-p", "xiokv", *BENCH],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    wait_until(lambda: bool(harmed_cluster.clients(user)))
    (address,) = harmed_cluster.clients(user)
    harmed_cluster.blocklist(address)
    said, _ = client.communicate(timeout=30)
    assert client.returncode != 0
    assert b"(108)" in said, said.decode()


@pytest.mark.slow
def test_whatever_was_done_is_mended(harmed_cluster: Cluster, namespace: str) -> None:
    cluster = harmed_cluster
    cluster.set_full()
    cluster.delete_pool(cluster.pool)
    cluster.stop_mon()
    cluster.stop_osd()
    cluster.mend()
    put(cluster, namespace)
    cluster.kill_osd()
    cluster.mend()
    assert cluster.names(namespace) == []
    put(cluster, namespace)


@pytest.mark.slow
def test_bluestore_keeps_its_objects_when_the_osd_is_killed(
    make_cluster: Callable[..., Cluster], namespace: str
) -> None:
    cluster = make_cluster(store="bluestore")
    put(cluster, namespace)
    cluster.kill_osd()
    cluster.start_osd()
    assert get(cluster, namespace) == VALUE


OWNER = """
import sys, time
from importlib import util
spec = util.spec_from_file_location("cluster", sys.argv[1])
cluster = util.module_from_spec(spec)
sys.modules["cluster"] = cluster
spec.loader.exec_module(cluster)
print(cluster.Cluster().folder, flush=True)
time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_cluster_ends_with_its_process(
    ceph_is_here: None, wait_until: Callable[..., None], number: signal.Signals
) -> None:
    module = Path(__file__).with_name("cluster.py")
    owner = subprocess.Popen([sys.executable, "-c", OWNER, module], stdout=subprocess.PIPE)
    assert owner.stdout
    folder = Path(owner.stdout.readline().decode().strip())
    assert (folder / "osd.pid").exists()
    owner.send_signal(number)
    owner.communicate(timeout=20)
    wait_until(lambda: not folder.exists())
