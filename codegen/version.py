"""The version of the running generator, as the installed distribution states it."""

from __future__ import annotations

from importlib.metadata import version

from packaging.version import Version

VERSION = version("xiokv")
# The first release of the running one's series. All of a series generate the same, so what is
# generated names no other.
SERIES = "{0.major}.{0.minor}.0".format(Version(VERSION))
