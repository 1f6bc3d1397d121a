"""Which architectures the kernels are built for: what the compiler knows, from the oldest on.

In: names, as users write them, and a compiler. Out: nothing, or a fault of one line that
names those that it can be. Said before anything is compiled.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.toolchain.compilers import Compiler

_FEATURES = (":sramecc+", ":sramecc-", ":xnack+", ":xnack-")
_SUFFIXES = ("a", "f")


@dataclass(frozen=True, slots=True)
class Family:
    """The architectures of one kind of GPU.

    Attributes:
        oldest: the first that the kernels can be built for, in words.
        serves: tells whether one that a compiler lists is not older than that.
        base: returns the name under which a compiler lists an architecture.
        endings: what may follow that name; which of them, only the compiler knows.
        trial: returns the arguments by which a compiler says whether it knows one.
    """

    oldest: str
    serves: Callable[[str], bool]
    base: Callable[[str], str]
    endings: tuple[str, ...]
    trial: Callable[[str], tuple[str, ...]]


AMD = Family(
    oldest="gfx900 or later",
    # Older ones have waves of 64 lanes, for which the kernels are written on gfx9 alone. Two
    # digits follow the number of the generation: gfx90a is of the 9th, gfx1100 of the 11th.
    serves=lambda name: int(name[3:-2]) >= 9,
    base=lambda name: name.split(":")[0],
    endings=_FEATURES,
    trial=lambda name: (f"--offload-arch={name}", "-fsyntax-only"),
)
NVIDIA = Family(
    oldest="sm_70 or later",
    # Older ones have no fences of system scope.
    serves=lambda name: int(name.partition("_")[2]) >= 70,
    base=lambda name: name.rstrip("af"),  # nvcc lists sm_90, and knows sm_90a with it
    endings=_SUFFIXES,
    trial=lambda name: (f"-arch={name}", "--dryrun"),
)


def check_architectures(
    family: Family, compiler: Compiler, flags: Sequence[str], names: Iterable[str]
) -> None:
    """Refuse architectures that the kernels cannot be built for.

    A compiler that lists none is believed to know all: what it does not shows when it runs.

    Raises:
        ArgumentFault: naming those that are refused and those that can be built for.
    """
    listed = compiler.architectures
    bases = {name: family.base(name) for name in names} if listed else {}
    usable = [name for name in listed if family.serves(name)]
    unknown = [name for name, base in bases.items() if base not in listed]
    if unknown:
        raise _unknown(compiler, unknown, usable)
    old = [name for name, base in bases.items() if base not in usable]
    if old:
        raise ArgumentFault(
            f"the kernels cannot be built for {', '.join(old)}: they need {family.oldest};"
            f" use one of {', '.join(usable)}"
        )
    for name, base in bases.items():
        if name != base and not _knows(family, compiler, flags, name):
            others = (base + ending for ending in family.endings)
            known = [other for other in others if _knows(family, compiler, flags, other)]
            raise _unknown(compiler, [name], [base, *known])


def _unknown(compiler: Compiler, names: list[str], known: list[str]) -> ArgumentFault:
    several = f"one of {', '.join(known)}" if len(known) > 1 else "".join(known)
    return ArgumentFault(
        f"{compiler.path} ({compiler.version}) does not know {', '.join(names)}: use a newer"
        f" one, or {several}"
    )


def _knows(family: Family, compiler: Compiler, flags: Sequence[str], name: str) -> bool:
    """Ask the compiler, with a text that is empty: its lists leave out what may follow a name."""
    command = [compiler.path, *flags, *family.trial(name), os.devnull]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode == 0
