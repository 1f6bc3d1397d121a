"""What single values of xiokv.toml may be, and what is wrong with those that may not.

In: a value as it is written, there or on the command line. Out: None, or a sentence that
says what was seen and what is allowed.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from xiokv.codegen.upstream.urls import check_url

_REF = re.compile(r"[0-9A-Za-z][0-9A-Za-z._/-]*")
_UPSTREAM_PATH = re.compile(r"[0-9A-Za-z_.][0-9A-Za-z_.+/-]*")
# The architectures of the targets that have several, and examples.
_ARCHITECTURES = {
    "hip": (
        re.compile(r"gfx[0-9a-f]{3,}(?::(xnack|sramecc)[+-](?!.*:\1))*"),
        "gfx90a or gfx942:xnack+, each feature once",
    ),
    "cuda": (re.compile(r"(?:sm|compute)_[0-9]+[af]?"), "sm_90 or compute_80"),
}
_GENERIC = re.compile(r"gfx[0-9]+(?:-[0-9]+)?-generic")


def check_ref(ref: str) -> str | None:
    """Return why `ref` is no acceptable name of a tag, branch or commit, or None."""
    if _REF.fullmatch(ref) and ".." not in ref:
        return None
    return (
        f"ref {ref!r} is not allowed; a ref starts with a letter or digit, goes on with"
        " letters, digits, '.', '_', '/', '-', and has no '..'"
    )


def check_architecture(target: str, name: str) -> str | None:
    """Return why `name` is no architecture of a target, or None."""
    if target not in _ARCHITECTURES:
        return f"{name!r}: {target} is compiled for this machine's processor"
    shape, example = _ARCHITECTURES[target]
    if shape.fullmatch(name):
        return None
    if shape.fullmatch(name.lower()):
        return f"{name!r} is no architecture of {target}; did you mean {name.lower()}?"
    if _GENERIC.fullmatch(name):
        return (
            f"{name!r} is no architecture of {target}: generic processors need code objects"
            " of version 6, and xiokv makes version 5; name the processor, such as gfx1100"
        )
    return f"{name!r} is no architecture of {target}; write for example {example}"


def check_upstream_path(name: str) -> str | None:
    """Return why `name` is no path within a repository, or None."""
    path = PurePosixPath(name)
    if _UPSTREAM_PATH.fullmatch(name) and ".." not in path.parts and str(path) == name:
        return None
    return f"{name!r} is no path within a repository"


def check_template(template: str) -> str | None:
    """Return why `template` cannot be filled in with a commit and a path, or None."""
    shape = template.replace("{commit}", "").replace("{path}", "")
    if "{commit}" not in template or "{path}" not in template or "{" in shape or "}" in shape:
        return f"url = {template!r} must hold {{commit}} and {{path}}, and no other braces"
    return check_url(template)
