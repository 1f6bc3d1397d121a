"""The host module that the parts measure."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from pathlib import Path

from xiokv.runtime import toolchain
from xiokv.runtime.module import Module, load

ROOT = Path(__file__).resolve().parents[2]


@cache
def module() -> Module:
    """Return the host module of this checkout's text, whatever a build left elsewhere."""
    recipe = toolchain.host_recipe(ROOT / "generated", version("xiokv"))
    return load("host", module=toolchain.build_cached(recipe))
