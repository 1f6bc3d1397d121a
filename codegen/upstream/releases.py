"""Releases of SPDK: which tags are releases, and which of them is the newest.

In: the refs of a repository. Out: releases in their order. ``v26.05`` is a release,
``v26.05.1`` one that mends it, and ``v26.05-rc1`` a candidate for it; other tags are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from xiokv.codegen.upstream.refs import Refs, choose

_TAG = re.compile(r"v([0-9]{1,4})\.([0-9]{1,4})(?:\.([0-9]{1,4}))?(?:-rc([0-9]{1,4}))?")
_PREFIX = "refs/tags/"
_FINAL = 1 << 31  # a release comes after all of its candidates


@dataclass(frozen=True, slots=True, order=True)
class Release:
    """A release; the order of releases is that of their numbers."""

    numbers: tuple[int, int, int, int]
    tag: str
    commit: str

    @property
    def is_candidate(self) -> bool:
        """Whether it is a candidate for a release."""
        return self.numbers[-1] != _FINAL


def releases(refs: Refs) -> list[Release]:
    """Return the releases and candidates among refs, the oldest first."""
    return sorted(_found(refs))


def release_number(tag: str) -> tuple[int, int, int, int] | None:
    """Return the numbers that order a tag among releases; None where it is none."""
    match = _TAG.fullmatch(tag)
    if match is None:
        return None
    major, minor, patch, candidate = match.groups()
    last = _FINAL if candidate is None else int(candidate)
    return int(major), int(minor), int(patch or 0), last


def _found(refs: Refs) -> Iterator[Release]:
    for name in refs:
        tag = name.removeprefix(_PREFIX)
        numbers = release_number(tag)
        if numbers and name != tag:
            yield Release(numbers, tag, choose(refs, name))
