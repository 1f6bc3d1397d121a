"""What is compiled, and how: texts, flags, and the files that come of them.

In: paths and words. Out: a frozen `Recipe`, and the key that names its result.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xiokv.runtime.toolchain.compilers import Compiler, find_cxx

Figures = Mapping[str, Any]
"""What ``module.json`` tells of one file besides its name, such as ``kernels``."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Texts to compile: translation units, and every file that they may include.

    Attributes:
        root: folder that relative paths count from.
        units: translation units, relative to `root`.
        include: include folder, relative to `root`.
        read: all files whose text decides the outcome, relative to `root`.
    """

    root: Path
    units: tuple[str, ...]
    include: str
    read: tuple[str, ...]

    def digest(self) -> str:
        """Return a hash of every text, by path."""
        lines = (f"{sha256(self.root / path)}  {path}\n" for path in sorted(self.read))
        return hashlib.sha256("".join(lines).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Output:
    """A file that one run of the compiler makes.

    Attributes:
        file: its name.
        arch: the architecture that it is for.
        flags: what the compiler is given for it, besides the recipe's.
    """

    file: str
    arch: str
    flags: tuple[str, ...] = ()


def host_figures(path: Path, said: str) -> Figures:
    """Return what is told of code for this machine's processor."""
    return {"wave": 1, "kernels": {}, "functions": []}


@dataclass(frozen=True, slots=True)
class Recipe:
    """How files are made that belong together.

    Attributes:
        outputs: the files.
        sources: what each is compiled from.
        flags: what the compiler is given for each, besides the sources.
        description: what their description says of them, besides how they were built;
            part of what decides whether they are up to date.
        compiler: None for the C++ compiler, which is looked for when it is needed.
        figures: returns what is told of a file, from it and from what the compiler said.
    """

    outputs: tuple[Output, ...]
    sources: Sources
    flags: tuple[str, ...]
    description: Mapping[str, Any]
    compiler: Compiler | None = None
    figures: Callable[[Path, str], Figures] = host_figures

    def find_compiler(self) -> Compiler:
        """Return the compiler that makes the files."""
        return self.compiler or find_cxx()

    def place(self, folder: Path) -> Path:
        """Return the path of the one file in `folder`; the folder where there are several."""
        return folder / self.outputs[0].file if len(self.outputs) == 1 else folder

    def key(self, compiler: Compiler) -> str:
        """Return a name that changes with every text, flag, compiler and machine."""
        described = json.dumps(self.description, sort_keys=True)
        files = [word for out in self.outputs for word in (out.file, out.arch, *out.flags)]
        parts = [self.sources.digest(), described, compiler.version, *self.flags, *files]
        joined = "\0".join([*parts, platform.machine()])
        return hashlib.sha256(joined.encode()).hexdigest()[:32]


def library_recipe(
    name: str, sources: Sources, flags: tuple[str, ...], description: Mapping[str, Any]
) -> Recipe:
    """Return how one shared library for this machine is made."""
    arch = platform.machine()
    return Recipe((Output(name, arch),), sources, flags, {**description, "arch": arch})


def found(root: Path, folder: str, pattern: str) -> list[str]:
    """Return the files of a folder that a pattern names, relative to `root`, in order."""
    paths = sorted((root / folder).glob(pattern))
    return [f"{folder}/{path.relative_to(root / folder).as_posix()}" for path in paths]


def sha256(path: Path) -> str:
    """Return the hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
