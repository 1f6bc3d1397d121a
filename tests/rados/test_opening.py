"""A store that cannot be opened: one line says why."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from xiokv.runtime import Emulator, RuntimeFault

from .cluster import Cluster


def refusal(url: str, seconds: float = 15.0) -> str:
    """Return why a store is refused, which is one line, and comes in time."""
    begin = time.monotonic()
    with pytest.raises(RuntimeFault) as caught:
        Emulator(store=url)
    assert time.monotonic() - begin < seconds
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_a_pool_that_is_not_there_is_named(cluster: Cluster) -> None:
    said = refusal(cluster.url(pool="no-pool", namespace="t"))
    assert said == (
        "store in pool no-pool, namespace t: the cluster has no pool no-pool; make it"
        " (ceph osd pool create no-pool)"
        " or name another"
    )


def test_a_user_whom_nobody_knows_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    """Without a keyring, and by a key that is another's, a wrong one, or none."""
    keyring = tmp_path / "keyring"
    said = refusal(cluster.url(user="nobody"))
    refused = "store in pool xiokv, the unnamed namespace: the cluster does not take client.nobody"
    missing = f"{refused}: there is no keyring that can be read at"
    assert said == f"{missing} {cluster.folder}/client.nobody.keyring"
    said = refusal(cluster.url(user="client.nobody", keyring=keyring))
    assert said == f"{missing} {keyring}"
    for user, key in (
        ("client.nobody", "AQBSdFhcAAAAABAAvp0TwWuXBsu5GLHXpJTcFg=="),
        ("client.admin", "AQBSdFhcAAAAABAAvp0TwWuXBsu5GLHXpJTcFg=="),
        ("client.admin", "AQ"),
    ):
        keyring.write_text(f"[{user}]\n\tkey = {key}\n", encoding="ascii")
        said = refusal(cluster.url(user=user, keyring=keyring))
        assert f"does not take {user} by the key in keyring {keyring}: " in said


def test_a_configuration_that_is_of_no_use_is_named(cluster: Cluster, tmp_path: Path) -> None:
    path = tmp_path / "ceph.conf"
    url = f"rados://xiokv/t?conf={path}&connect_timeout=2"
    unreadable = f"store in pool xiokv, namespace t: cannot read the configuration {path}: "
    assert refusal(url) == f"{unreadable}No such file or directory"
    path.write_text("[global\nmon_host", encoding="ascii")
    assert refusal(url) == f"{unreadable}Invalid argument"
    path.write_text("[global]\n", encoding="ascii")
    assert refusal(url).startswith(
        f"store in pool xiokv, namespace t: no monitor is found by mon_host '' of {path}: "
    )
    path.write_text("[global]\nmon_host = no-host.invalid\n", encoding="ascii")
    assert f"no monitor is found by mon_host 'no-host.invalid' of {path}: " in refusal(url)
    assert refusal(f"rados://xiokv/t?conf={tmp_path}") == (
        f"store in pool xiokv, namespace t: the configuration {tmp_path} is a folder; name a file"
    )


def test_the_file_that_was_looked_for_is_that_of_the_clusters_name() -> None:
    said = refusal("rados://xiokv/t?cluster=another")
    assert "no monitor is found by mon_host '' of the another.conf that was found, if any" in said


def test_a_method_that_the_cluster_does_not_take_is_named(cluster: Cluster, tmp_path: Path) -> None:
    path = tmp_path / "ceph.conf"
    path.write_text(f"{cluster.conf.read_text()}\n[client]\nauth_client_required = none\n")
    said = refusal(f"rados://xiokv/t?conf={path}")
    assert "the cluster does not take client.admin by auth_client_required = none: " in said
