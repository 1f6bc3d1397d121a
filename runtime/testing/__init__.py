"""A kit for the tests of programs that use the runtime: a plugin of pytest.

Pytest finds it by itself where xiokv is installed; `plugin` holds its fixtures, which cost
nothing until a test asks for one. Nothing here imports pytest, NumPy or the runtime before.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xiokv.runtime.testing.faults import Faults
    from xiokv.runtime.testing.rig import MakeRig, Rig

__all__ = ["Faults", "MakeRig", "Rig"]

# Read by pytest alone.
pytest_plugins = ("xiokv.runtime.testing.plugin",)

_HOMES = {"Faults": "faults", "MakeRig": "rig", "Rig": "rig"}


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
