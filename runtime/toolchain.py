"""Compilers: how they are found, what they are given, where their output is kept.

In: a recipe: texts, flags and the name of the library. Out: the library and its
description, ``module.json``, side by side in one folder. The description is written last,
so that a folder with one is complete. Both the generator and the runtime build through
here; nothing here knows either of them.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from xiokv.runtime.errors import MissingFault as MissingFault
from xiokv.runtime.errors import RuntimeFault as RuntimeFault

DESCRIPTION = "module.json"
HOST_MODULE = "xiokv_host.so"

_HOST_FLAGS = ("-std=c++17", "-O2", "-g", "-fPIC", "-shared", "-pthread", "-fvisibility=default")
_ERROR_LINES = 20


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C++ compiler: its path and the first line of its ``--version``."""

    path: str
    version: str


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
        lines = (f"{_sha256(self.root / path)}  {path}\n" for path in sorted(self.read))
        return hashlib.sha256("".join(lines).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a shared library is made.

    Attributes:
        library: its file name.
        sources: what it is compiled from.
        flags: what the compiler is given besides the sources.
        description: what its description says of it, besides how it was built; part of
            what decides whether a library is up to date.
    """

    library: str
    sources: Sources
    flags: tuple[str, ...]
    description: Mapping[str, Any]

    def key(self, compiler: Compiler) -> str:
        """Return a name that changes with every text, flag, compiler and machine."""
        described = json.dumps(self.description, sort_keys=True)
        parts = [self.sources.digest(), described, compiler.version, *self.flags]
        joined = "\0".join([*parts, platform.machine()])
        return hashlib.sha256(joined.encode()).hexdigest()[:32]


def host_recipe(generated: Path, generator: str) -> Recipe:
    """Return how the host module is made from a folder of generated text.

    Args:
        generated: the folder that holds ``include/`` and ``kernels/``.
        generator: version of xiokv that compiles, for the description.
    """
    unit = "kernels/kv_kernels.cpp"
    described = generated / "kernels" / "kv_module.json"
    if not described.is_file() or not (generated / unit).is_file():
        raise RuntimeFault(
            f"no kernels in {generated}: the project does not emit the engine;"
            ' add "engine" to emit in xiokv.toml and run xiokv-gen build'
        )
    headers = sorted(generated.glob("include/**/*.h"))
    read = tuple(path.relative_to(generated).as_posix() for path in headers)
    description = {**_read_json(described), "generator": generator, "target": "host"}
    sources = Sources(generated, (unit,), "include", (unit, *read))
    return Recipe(HOST_MODULE, sources, _HOST_FLAGS, description)


def find_cxx() -> Compiler:
    """Return the C++ compiler: $CXX, or the first of c++, g++ and clang++ on the path."""
    asked = os.environ.get("CXX")
    for name in (asked,) if asked else ("c++", "g++", "clang++"):
        path = shutil.which(name)
        if path:
            return Compiler(path, _version(path))
    raise MissingFault(
        f"$CXX names {asked}, which is not there"
        if asked
        else "no C++ compiler found (c++, g++, clang++); install one: apt-get install g++"
    )


def cache_folder() -> Path:
    """Return the user's folder for compiled modules."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "xiokv"
    except RuntimeError as error:
        raise RuntimeFault("no home folder for the cache: set XDG_CACHE_HOME") from error


def build_cached(recipe: Recipe) -> Path:
    """Build a recipe in the user's cache, unless it is there; return the library's path."""
    return build(recipe, cache_folder() / recipe.key(find_cxx()))


def build(recipe: Recipe, folder: Path) -> Path:
    """Build a recipe in `folder`, unless what is there is the same already.

    Returns:
        The path of the library. Beside it lies its description: the recipe's, and what
        was built, by which compiler and from which texts.
    """
    compiler = find_cxx()
    key = recipe.key(compiler)
    library = folder / recipe.library
    # Looked at first without the lock, which a read-only cache cannot give.
    if _is_current(library, key):
        return library
    try:
        with _locked(folder):
            if not _is_current(library, key):
                _build(recipe, compiler, key, library)
    except OSError as error:
        raise RuntimeFault(
            f"cannot build {library}: {error.strerror}; the folder has to be writable"
            " (XDG_CACHE_HOME moves the user's cache)"
        ) from error
    return library


def _build(recipe: Recipe, compiler: Compiler, key: str, library: Path) -> None:
    """Compile into a folder that is locked; the description goes first and comes last."""
    description = library.with_name(DESCRIPTION)
    description.unlink(missing_ok=True)
    for left in library.parent.glob(".*.tmp"):  # of a build that was killed
        left.unlink()
    _progress(f"compiling {recipe.library} with {compiler.path} (once)")
    build_library(compiler, recipe.sources, recipe.flags, library)
    built = {
        **recipe.description,
        "arch": platform.machine(),
        "compiler": compiler.version,
        "flags": list(recipe.flags),
        "key": key,
        "files": {recipe.library: _sha256(library)},
    }
    _write(description, json.dumps(built, indent=2, sort_keys=True) + "\n")


def build_library(compiler: Compiler, sources: Sources, flags: Sequence[str], output: Path) -> None:
    """Compile the units into one shared library, which appears whole or not at all."""
    temporary = output.with_name(f".{output.name}.{token_hex(4)}.tmp")
    # The compiler works in another folder, where a relative path is another one.
    command = [compiler.path, *flags, "-I", sources.include, *sources.units]
    try:
        done = _run([*command, "-o", str(temporary.absolute())], sources.root)
        if done.returncode != 0 or not temporary.exists():
            raise RuntimeFault(_failed(compiler, done))
        temporary.replace(output)
    finally:
        temporary.unlink(missing_ok=True)


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise RuntimeFault(f"cannot run {command[0]}: {error.strerror}") from error


def _failed(compiler: Compiler, done: subprocess.CompletedProcess[str]) -> str:
    lines = done.stderr.splitlines()
    shown = lines[:_ERROR_LINES]
    if len(lines) > len(shown):
        shown.append(f"... and {len(lines) - len(shown)} more lines")
    end = f"exit code {done.returncode}" if done.returncode else "it wrote no library"
    return "\n".join([f"{compiler.path} could not compile the module ({end}):", *shown])


def _progress(line: str) -> None:
    if sys.stderr.isatty():
        print(f"xiokv: {line}", file=sys.stderr)


def _is_current(library: Path, key: str) -> bool:
    try:
        described = json.loads(library.with_name(DESCRIPTION).read_text(encoding="utf-8"))
        return bool(
            described["key"] == key and described["files"][library.name] == _sha256(library)
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder against other processes that build into it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _version(path: str) -> str:
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise MissingFault(f"cannot run {path}: {error.strerror}") from error
    return done.stdout.split("\n", 1)[0].strip()


def _read_json(path: Path) -> dict[str, Any]:
    try:
        read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RuntimeFault(f"{path} cannot be read ({error}); run xiokv-gen build") from error
    return read


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.{token_hex(4)}.tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
