"""What a project's copy of the C code goes by, so that it can live beside other copies.

In: the C++ namespace that xiokv.toml names, or none. Out: what it is called in each place
where two copies would meet: the folder that includes name, macros, packages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from xiokv.codegen.semantics.words import C_WORDS

_OURS = "xiokv"
_LONGEST = 64
# No underscore at either end, and no two in a row: C++ keeps such names, also for macros.
_PART = re.compile(r"[A-Za-z][0-9A-Za-z]*(?:_[0-9A-Za-z]+)*")
_RESERVED = re.compile(r"std[0-9]*|posix")


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one copy; without a namespace they are those of xiokv itself."""

    cpp_namespace: str = ""

    @property
    def folder(self) -> str:
        """Return the folder of the headers, below ``include/``."""
        return self.cpp_namespace.replace("::", "/") or _OURS

    @property
    def macros(self) -> str:
        """Return what every macro begins with."""
        return (self.cpp_namespace or _OURS).replace("::", "_").upper() + "_"

    @property
    def package(self) -> str:
        """Return the name of the packages for CMake and pkg-config."""
        return "-".join((_OURS, *self._parts))

    @property
    def target(self) -> str:
        """Return the name of the target that the CMake package gives."""
        return f"{_OURS}::{'-'.join(self._parts) or _OURS}"

    @property
    def _parts(self) -> list[str]:
        return self.cpp_namespace.split("::") if self.cpp_namespace else []


def check_namespace(name: str) -> str | None:
    """Return why the headers cannot be put into a namespace, or None."""
    shown = f"cpp_namespace = {name!r}"
    if not name:
        return f"{shown} names none; leave the key out for headers without a namespace"
    if len(name) > _LONGEST:
        return f"{shown} is longer than {_LONGEST} characters; take a shorter one"
    parts = name.split("::")
    for part in parts:
        if not _PART.fullmatch(part):
            return (
                f"{shown} is no namespace: write names joined by '::', such as 'acme::kv'; each"
                " has letters, digits and single underscores, with a letter first and no"
                " underscore last"
            )
        if part in C_WORDS:
            return f"{shown}: {part!r} is a keyword or a predefined macro of C or C++; take another"
    if _RESERVED.fullmatch(parts[0]):
        return f"{shown}: {parts[0]!r} belongs to the C++ standard; take a name of your own"
    if parts[0].lower().startswith(_OURS):
        return (
            f"{shown}: what begins with {_OURS!r} is for headers without a namespace; begin with"
            " a name of your own"
        )
    return None
