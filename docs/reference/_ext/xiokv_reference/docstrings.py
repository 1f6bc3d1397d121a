"""What autodoc has to be told of this project's docstrings.

Annotations name a class where it lives, ``xiokv.runtime.results.Result``, and pages by its
public name, ``xiokv.runtime.Result``: links lead from the one to the other. The comment of
an attribute is a sentence, which may have a colon: what comes before it is no type. Members
of ctypes structures have no comments; the tables of structures have theirs.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

from sphinx.application import Sphinx

from xiokv import runtime

_BEFORE_NAPOLEON = 400


class _Structure(ctypes.Structure):
    _fields_ = (("member", ctypes.c_int),)


_MEMBER = type(vars(_Structure)["member"])


def setup(app: Sphinx) -> None:
    """Connect them."""
    app.connect("missing-reference", _resolve)
    app.connect("autodoc-process-docstring", _keep_sentence, priority=_BEFORE_NAPOLEON)
    app.connect("autodoc-skip-member", _skip_members_of_structures)


@lru_cache
def _public_names() -> dict[str, str]:
    """Return the public name of every class and function, by its home."""
    homes = {}
    for name in runtime.__all__:
        value = getattr(runtime, name)
        homes[f"{value.__module__}.{value.__qualname__}"] = f"{runtime.__name__}.{name}"
    return homes


def _resolve(app: Sphinx, env: Any, node: Any, contents: Any) -> Any:
    public = _public_names().get(node.get("reftarget", ""))
    if node.get("refdomain") != "py" or public is None:
        return None
    domain = env.domains["py"]
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", public, node, contents)


def _keep_sentence(
    app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]
) -> None:
    if what in ("attribute", "data", "property"):
        # Napoleon looks for a type in the first line alone; this one is nothing in reST.
        lines.insert(0, "\\ ")


def _skip_members_of_structures(
    app: Sphinx, what: str, name: str, value: Any, skip: bool, options: Any
) -> bool | None:
    return True if isinstance(value, _MEMBER) else None
