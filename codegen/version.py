"""The version of the running generator, as the installed distribution states it."""

from __future__ import annotations

from importlib.metadata import version

VERSION = version("xiokv")
