"""Servers' packages without their dependencies: wheels in, modules of them importable.

Wheels of pinned versions are downloaded once, into the user's cache, and only their Python
files kept; XIOKV_TEST_WHEELS names a folder that has them already. Modules that a test asks for
are the wheel's own, word for word; whatever else they import is a stand-in.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from abc import ABCMeta
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

CACHE = Path.home() / ".cache" / "xiokv-tests"
STAND_INS = ("torch", "triton", "sglang", "sgl_kernel", "vllm", "lmcache", "psutil", "zmq", "cbor2")


@dataclass(frozen=True)
class Release:
    """A release of a server."""

    name: str
    version: str
    platform: str
    abi: str

    @property
    def wheel(self) -> str:
        return f"{self.name}-{self.version}-*.whl"


SGLANG = Release("sglang", "0.5.23", "manylinux_2_34_x86_64", "cp311")
LMCACHE = Release("lmcache", "0.5.6", "manylinux_2_28_x86_64", "cp311")
SEMBLEND = Release("semblend", "0.3.25", "manylinux_2_28_x86_64", "cp311")
VLLM = Release("vllm", "0.33.0", "manylinux_2_28_x86_64", "abi3")


class NoWheel(Exception):
    """There is no package index, or it does not have the release."""


def sources(release: Release) -> Path:
    """Return a folder with the Python files of a release."""
    kept = CACHE / f"{release.name}-{release.version}"
    if not kept.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            with zipfile.ZipFile(_wheel(release, Path(scratch))) as wheel:
                wheel.extractall(
                    Path(scratch) / "files",
                    [name for name in wheel.namelist() if name.endswith(".py")],
                )
            # Another process may have been faster.
            with suppress(OSError):
                (Path(scratch) / "files").rename(kept)
    return kept


def _wheel(release: Release, scratch: Path) -> Path:
    given = os.environ.get("XIOKV_TEST_WHEELS")
    if given and (found := sorted(Path(given).glob(release.wheel))):
        return found[0]
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:"]
    command += ["--python-version=3.11", f"--platform={release.platform}", f"--abi={release.abi}"]
    command += ["--retries=0", "-d", str(scratch), f"{release.name}=={release.version}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        reason = (done.stderr.strip() or "pip failed").splitlines()[-1]
        raise NoWheel(f"{release.name} {release.version}: {reason}")
    return next(scratch.glob(release.wheel))


class _Anything(ABCMeta):
    """A class of which every attribute is a class like it."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = _stand_in(name, cls.__module__)
        setattr(cls, name, made)
        return made

    def __or__(cls, other: Any) -> Any:
        return cls

    __ror__ = __or__


class _StandIn(ModuleType):
    """A module that has whatever is asked of it."""

    __path__: Sequence[str] = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = _stand_in(name, self.__name__)
        setattr(self, name, made)
        return made


def _stand_in(name: str, module: str) -> _Anything:
    """Return a class; calls of it answer every question with no."""
    body = {
        "__module__": module,
        "__init__": lambda self, *args, **options: None,
        "__call__": lambda self, *args, **options: args[0] if args else None,
        "__bool__": lambda self: False,
    }
    return _Anything(name, (), body)


class Finder:
    """Finds modules of a release, packages around them, and stand-ins for all else.

    Args:
        root: folder with the files of the release.
        real: names of the modules that are the release's own.
    """

    def __init__(self, root: Path, real: Sequence[str]) -> None:
        self._root = root
        self._real = set(real)
        self._packages = {name[:at] for name in real for at, c in enumerate(name) if c == "."}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        place = self._root.joinpath(*name.split("."))
        if name in self._real:
            package = place / "__init__.py"
            file = package if package.is_file() else place.with_suffix(".py")
            inside = [str(place)] if package.is_file() else None
            return importlib.util.spec_from_file_location(
                name, file, submodule_search_locations=inside
            )
        if name in self._packages:
            spec = ModuleSpec(name, self, is_package=True)
            spec.submodule_search_locations = [str(place)]
            return spec
        if name.partition(".")[0] in STAND_INS:
            return ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


@contextmanager
def importable(root: Path, real: Sequence[str]) -> Iterator[None]:
    """Let modules of a release be imported, and forget them at the end."""
    finder: Any = Finder(root, real)
    before = set(sys.modules)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in set(sys.modules) - before:
            if name.partition(".")[0] in STAND_INS:
                del sys.modules[name]
