"""Tests of one group run in one process, which makes once what they share."""

from __future__ import annotations

import pytest


@pytest.mark.xdist_group("groups")
def test_the_group_of_a_test_is_known(request: pytest.FixtureRequest) -> None:
    """Versions of pytest and pytest-xdist that do not fit together drop it without a word."""
    if not request.config.getoption("loadgroup", False):
        pytest.skip("no pytest-xdist with --dist loadgroup: run scripts/test.sh")
    assert request.node.nodeid.endswith("@groups")
