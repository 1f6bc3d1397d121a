"""Ceph clusters for the tests of this folder.

What a test asks for says in which process of pytest-xdist it runs: see the hook below.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from .attached import Attach
from .cluster import Cluster, why_not

HERE = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    """Know the marker of pytest-xdist also where that is not there."""
    config.addinivalue_line("markers", "xdist_group(name): run in one process")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests that share a cluster in one process, and those that harm theirs in another."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if HERE in item.path.parents and "cluster" in fixtures:
            group = "rados-harmed" if "harmed_cluster" in fixtures else "rados"
            item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(scope="session")
def ceph_is_here() -> None:
    """Skip where Ceph is not installed."""
    if reason := why_not():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def cluster(ceph_is_here: None) -> Iterator[Cluster]:
    """Return the cluster that tests of this process share, and leave as it was."""
    with closing(Cluster()) as cluster:
        yield cluster


@pytest.fixture
def harmed_cluster(cluster: Cluster) -> Iterator[Cluster]:
    """Return the shared cluster for a test that harms it; it is mended after the test."""
    yield cluster
    cluster.mend()


@pytest.fixture
def make_cluster(ceph_is_here: None) -> Iterator[Callable[..., Cluster]]:
    """Return a function that starts a cluster of a store, which ends with the test."""
    with ExitStack() as stack:
        yield lambda store="memstore": stack.enter_context(closing(Cluster(store)))


@pytest.fixture
def namespace() -> str:
    """Return the name of a RADOS namespace that nobody else uses."""
    return f"tenant-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def attach(
    cluster: Cluster, namespace: str, module: Any, own_surroundings: None
) -> Iterator[Attach]:
    """Return what makes controllers on a namespace of its own."""
    with ExitStack() as stack:
        yield Attach(cluster, namespace, module, stack)


@pytest.fixture
def pool(cluster: Cluster) -> Iterator[str]:
    """Return the name of a pool that is gone after the test, with what was stored."""
    name = cluster.make_pool()
    yield name
    cluster.delete_pool(name)
