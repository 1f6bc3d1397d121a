"""The cluster of the tests: what it keeps, and what each harm does to a client."""

from __future__ import annotations

import os

from .cluster import Cluster


def test_an_object_comes_back(cluster: Cluster, namespace: str) -> None:
    value = os.urandom(100_000)
    cluster.rados("put", "name", "-", namespace=namespace, input=value)
    assert cluster.rados("get", "name", "-", namespace=namespace) == value
