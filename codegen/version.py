"""The version of the running generator, as the installed distribution states it."""

from __future__ import annotations

from importlib.metadata import version

from packaging.version import InvalidVersion, Version

VERSION = version("xiokv")
# The first release of the running one's series. All of a series generate the same, so what is
# generated names no other.
SERIES = "{0.major}.{0.minor}.0".format(Version(VERSION))


def is_newer(other: str) -> bool:
    """Tell whether a version is of a later series; a text that is no version is not."""
    try:
        return Version(other).release[:2] > Version(VERSION).release[:2]
    except InvalidVersion:
        return False
