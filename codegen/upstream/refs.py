"""Names of commits: a repository's list of refs, and which one a user means.

In: the answer of a git server to ``info/refs``, or the lines of ``git show-ref``. Out: the
commit, by git's own precedence, an annotated tag peeled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from xiokv.codegen.errors import XiokvError

Refs = Mapping[str, str]

_COMMIT = re.compile(r"[0-9a-fA-F]{40}")
_LINE = re.compile(r"([0-9a-f]{40}) ([^\s\0]+)")
_PEELED = "^{}"
_PRECEDENCE = ("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}")


def as_commit(ref: str) -> str | None:
    """Return the commit where `ref` spells one out in full, or None."""
    return ref.lower() if _COMMIT.fullmatch(ref) else None


def parse_show_ref(output: str) -> Refs:
    """Read the lines of ``git show-ref --head --dereference``."""
    return {match[2]: match[1] for match in _LINE.finditer(output)}


def parse_advertisement(body: bytes) -> Refs:
    """Read a smart HTTP ref advertisement."""
    lines = list(_packets(body))
    if not lines or not lines[0].startswith("# service=git-upload-pack"):
        raise XiokvError("the answer is no list of git refs; is [upstream] repository right?")
    found = (_LINE.match(line) for line in lines[1:])
    return {match[2]: match[1] for match in found if match}


def choose(refs: Refs, ref: str) -> str:
    """Return the commit that `ref` names among `refs`."""
    for shape in _PRECEDENCE:
        name = shape.format(ref)
        if name in refs:
            return refs.get(name + _PEELED, refs[name])
    near = get_close_matches(ref, sorted(_short_names(refs)), n=5, cutoff=0.5)
    hint = f"; near names: {', '.join(near)}" if near else ""
    raise XiokvError(
        f"upstream has no tag or branch {ref!r}{hint}; a commit is given by all its 40"
        " hexadecimal digits"
    )


def is_tag(refs: Refs, ref: str) -> bool:
    """Tell whether `ref` names a tag among `refs`."""
    return f"refs/tags/{ref}" in refs


def _packets(body: bytes) -> Iterator[str]:
    """Yield the payloads of pkt-lines; a flush packet carries none."""
    at = 0
    while at < len(body):
        try:
            length = int(body[at : at + 4], 16)
        except ValueError:
            return
        if length > 4:
            yield body[at + 4 : at + length].decode("utf-8", "replace")
        at += max(length, 4)


def _short_names(refs: Refs) -> set[str]:
    """Return the names of tags and branches as a user writes them."""
    prefixes = ("refs/tags/", "refs/heads/")
    return {
        name.removeprefix(prefix)
        for name in refs
        for prefix in prefixes
        if name.startswith(prefix) and not name.endswith(_PEELED)
    }
