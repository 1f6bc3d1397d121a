"""The plugin, as a user of the installed package has it: in a pytest of its own."""

from __future__ import annotations

import pytest

pytest_plugins = ("pytester",)


@pytest.fixture
def suite(pytester: pytest.Pytester, own_surroundings: None) -> pytest.Pytester:
    """Return a scratch folder for a user's tests; what is compiled is in this checkout's cache."""
    return pytester
