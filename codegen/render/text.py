"""Text filters: they turn any text into a comment or literal of one language.

Texts of docs.toml and of profiles are other people's input. Each filter takes such a text
and returns one line (comments) or one literal, in which nothing can end the comment or
the literal early or join it with what follows.
"""

from __future__ import annotations

import unicodedata

from xiokv.codegen.spec.model import Provenance, SemanticField, Spec

# What C would read as the end or the start of a comment, a line continuation, the
# trigraph of one, or a Doxygen command; entities keep the rendered documentation exact.
_C_REPLACEMENTS = (
    ("\\", "&#92;"),
    ("@", "&#64;"),
    ("*/", "* /"),
    ("/*", "/ *"),
    ("??", "? ?"),
)


# By this the first lines of every generated file can be told from other people's files.
MARK = "by `xiokv-gen build`"

_NOT_TEXT = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def one_line(text: str) -> str:
    """Return the text on one line, without control, format and surrogate characters."""
    kept = (" " if unicodedata.category(c) in _NOT_TEXT else c for c in text)
    return " ".join("".join(kept).split())


def c_comment(text: str) -> str:
    """Return the text for the inside of a C comment, of either style, or for Doxygen."""
    line = one_line(text)
    for seen, harmless in _C_REPLACEMENTS:
        while seen in line:
            line = line.replace(seen, harmless)
    return line


def hash_comment(text: str) -> str:
    """Return the text for a ``#`` comment of Python, CMake, pkg-config or a shell.

    A space must stand between the ``#`` and the text: CMake reads ``#[[`` otherwise.
    """
    return one_line(text)


def py_doc(text: str) -> str:
    """Return the text for the inside of a triple-quoted Python string."""
    return one_line(text).replace("\\", "\\\\").replace('"', '\\"')


def py_str(text: str) -> str:
    """Return the text as a Python string literal, in ASCII."""
    return ascii(text)


def description(field: SemanticField) -> str:
    """Return meaning and unit of a field, without what its profile leaves empty."""
    unit = one_line(field.unit)
    return " ".join(filter(None, (one_line(field.meaning), f"Unit: {unit}." if unit else "")))


def _origin(provenance: Provenance) -> str:
    if not provenance.commit:
        return "an unpinned tree"
    at = f" ({provenance.ref})" if provenance.ref not in ("", provenance.commit) else ""
    return f"commit {provenance.commit}{at}"


def banner_lines(spec: Spec, identity: str = "") -> tuple[str, ...]:
    """Return what a generated file states about itself, one line each.

    `identity` takes the place of the spec's, for a file that depends on less.
    """
    provenance = spec.provenance
    lines = (
        "SPDX-License-Identifier: MIT",
        f"Generated {MARK}; do not edit.",
        f"names and values from SPDK ({provenance.license}),",
        _origin(provenance),
        provenance.repository,
        identity or f"spec {spec.identity.spec}",
    )
    return tuple(line for line in map(one_line, lines) if line)


def banner(spec: Spec, mark: str, identity: str = "") -> str:
    """Return the opening lines of a generated file, each after the comment mark `mark`."""
    clean = c_comment if mark == "//" else hash_comment
    return "\n".join(f"{mark} {clean(line)}" for line in banner_lines(spec, identity))
