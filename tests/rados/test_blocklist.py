"""A client on the blocklist: it says so of every key, and another goes on."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from .cluster import Cluster
from .hosts import CUT_OFF, MANY, OK, all_say, host, keys_of, said, took, values_of

pytestmark = pytest.mark.slow


def test_a_client_that_is_shut_out_says_so_and_another_goes_on(
    module: Any, harmed_cluster: Cluster, namespace: str
) -> None:
    user = f"writer-{namespace}"
    harmed_cluster.make_user(user, mon="allow r", osd="allow rw")
    url = harmed_cluster.url(namespace=namespace, user=user, timeout=5)
    with host(module, url) as one:
        stores = one.begin(one.kv.store, keys_of(MANY), values_of(MANY))
        one.wait_for(100)
        with harmed_cluster.paused("osd"):
            (address,) = harmed_cluster.clients(user)
            harmed_cluster.blocklist(address)
            assert not stores.done()
        counts = said(stores.result(60))
        assert set(counts) == {OK, CUT_OFF}
        heard = one.every_command(keys_of(range(300)))
        # Names alone an OSD still gives to such a client; they are true.
        assert heard == all_say(CUT_OFF, 300) | {"list": Counter([OK])}
        assert len(list(one.kv.list())) == counts[OK]
        with took(0, 0):
            one.kv.close()
            one.controller.close()
    with host(module, url) as another:
        another.kv.store(keys_of(MANY), values_of(MANY)).raise_for_status()
