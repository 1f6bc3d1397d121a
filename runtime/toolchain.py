"""Compilers: how they are found, what they are given, where their output is kept.

In: a folder of generated text (``include/``, ``kernels/``). Out: a compiled module and its
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


def host_sources(generated: Path) -> Sources:
    """Return what the host module is compiled from, below a folder of generated text."""
    headers = sorted(generated.glob("include/**/*.h"))
    read = [*headers, *sorted(generated.glob("kernels/kv_kernels.cpp"))]
    if len(read) == len(headers):
        raise RuntimeFault(
            f"no kernels/kv_kernels.cpp in {generated}: the project does not emit the engine;"
            ' add "engine" to emit in xiokv.toml and run xiokv-gen build'
        )
    paths = tuple(path.relative_to(generated).as_posix() for path in read)
    return Sources(generated, ("kernels/kv_kernels.cpp",), "include", paths)


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
    return (Path(base) if base else Path.home() / ".cache") / "xiokv"


def cache_key(sources: Sources, compiler: Compiler, flags: Sequence[str]) -> str:
    """Return a name that changes with every text, flag, compiler and machine."""
    parts = [sources.digest(), compiler.version, *flags, platform.machine()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def compile_host(sources: Sources, folder: Path, description: Mapping[str, Any]) -> Path:
    """Compile the host module into `folder`, unless what is there is the same already.

    Returns:
        The path of the module. Its description is `description` with what was built, by
        which compiler and from which texts.
    """
    compiler = find_cxx()
    key = cache_key(sources, compiler, _HOST_FLAGS)
    with _locked(folder):
        if _is_current(folder, key):
            return folder / HOST_MODULE
        (folder / DESCRIPTION).unlink(missing_ok=True)
        build_library(compiler, sources, _HOST_FLAGS, folder / HOST_MODULE)
        built = {
            **description,
            "target": "host",
            "arch": platform.machine(),
            "compiler": compiler.version,
            "flags": list(_HOST_FLAGS),
            "key": key,
            "files": {HOST_MODULE: _sha256(folder / HOST_MODULE)},
        }
        _write(folder / DESCRIPTION, json.dumps(built, indent=2, sort_keys=True) + "\n")
    return folder / HOST_MODULE


def build_library(compiler: Compiler, sources: Sources, flags: Sequence[str], output: Path) -> None:
    """Compile the units into one shared library, which appears whole or not at all."""
    temporary = output.with_name(f".{output.name}.{token_hex(4)}.tmp")
    command = [compiler.path, *flags, "-I", sources.include, *sources.units, "-o", str(temporary)]
    try:
        done = subprocess.run(
            command, cwd=sources.root, capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode != 0:
            raise RuntimeFault(_failed(compiler, done.stderr))
        temporary.replace(output)
    except OSError as error:
        raise RuntimeFault(f"cannot run {compiler.path}: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _failed(compiler: Compiler, stderr: str) -> str:
    lines = stderr.splitlines()
    shown = lines[:_ERROR_LINES]
    if len(lines) > len(shown):
        shown.append(f"... and {len(lines) - len(shown)} more lines")
    return "\n".join([f"{compiler.path} could not compile the module:", *shown])


def _is_current(folder: Path, key: str) -> bool:
    try:
        described = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        return bool(
            described["key"] == key
            and described["files"][HOST_MODULE] == _sha256(folder / HOST_MODULE)
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


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.{token_hex(4)}.tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)
