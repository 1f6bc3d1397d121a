"""The description beside a compiled module, ``module.json``: read, typed, checked.

In: a module's folder, its file or its description. Out: a frozen `Description`. Nothing
of the module itself is loaded or believed here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.images import Image
from xiokv.runtime.operation import Operation
from xiokv.runtime.project import modules_below
from xiokv.runtime.toolchain import DESCRIPTION

SCHEMA = "xiokv-module/1"

_T = TypeVar("_T")
_HINT = "run xiokv-gen build --target {target} to make it anew"
# Dwords that may carry semantic fields -> the lowest bit that is free there.
_LOWEST_BIT = {11: 16, 12: 0, 13: 0}
_NO_BIT = 32
_FILES = "xiokv_"  # what names of a module's files begin with


@dataclass(frozen=True, slots=True)
class SemanticField:
    """A reserved semantic field of the profile: bits ``[msb:lsb]`` of a dword."""

    name: str
    dword: int
    msb: int
    lsb: int
    scope: str
    commands: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Description:
    """What a compiled module says of itself.

    Attributes:
        folder: the module's folder.
        images: its files, one an architecture.
        target: kind of device it was built for.
        arch: architecture it was built for, or all of them.
        compiler: first line of the compiler's ``--version``.
        generator: version of xiokv that built it.
        facts: identity of the upstream facts.
        spec: identity of facts, commands and profile.
        kernels: entry of each command.
        profile: name of the profile.
        fields: semantic fields that the profile declares.
    """

    folder: Path
    images: tuple[Image, ...]
    target: str
    arch: str
    compiler: str
    generator: str
    facts: str
    spec: str
    kernels: Mapping[str, str]
    profile: str
    fields: tuple[SemanticField, ...]

    @property
    def library(self) -> Path:
        """Path of the module's file; of its folder where it has several."""
        return self.images[0].file if len(self.images) == 1 else self.folder

    @property
    def built(self) -> str:
        """What was built, in one line."""
        return (
            f"{self.target} module for {self.arch}, spec {self.spec[:12]}, by xiokv"
            f" {self.generator} with {self.compiler}"
        )


def is_module(folder: Path) -> bool:
    """Tell whether a folder holds a module, or what is left of one."""
    return folder.is_dir() and any(not entry.name.startswith(".") for entry in folder.iterdir())


def read_description(place: Path) -> Description:
    """Read the description of the module at `place`: its folder, file or description.

    Raises:
        RuntimeFault: there is none, or it is not one that this version understands.
    """
    try:
        path = _description_of(place)
        text = path.read_bytes()
    except OSError as error:
        raise RuntimeFault(
            f"{error.filename or place} cannot be read: {error.strerror}; let this user read it,"
            " or name another module"
        ) from error
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RuntimeFault(
            f"{path} is truncated or damaged ({error}); {_HINT.format(target='TARGET')}"
        ) from error
    description = _Reader(path).description(document)
    _check_is_part(place, description)
    return description


def _description_of(place: Path) -> Path:
    """Return the path of the description; a place without one says what it seems to be."""
    if not place.exists():
        raise RuntimeFault(f"no module at {place}: nothing is there")
    folder = place if place.is_dir() else place.parent
    path = folder / DESCRIPTION
    if path.exists():
        return path
    below = modules_below(place) if place.is_dir() else []
    if below:
        raise RuntimeFault(
            f"{place} is no module; name one of those below: {', '.join(map(str, below))}"
        )
    parts = place.iterdir() if place.is_dir() else (place,)
    if any(part.name.startswith(_FILES) for part in parts):
        raise RuntimeFault(
            f"{path} is not there: the build did not end, or the module was moved without"
            f" its description; {_HINT.format(target='TARGET')}"
        )
    raise _no_module(place)


def _check_is_part(place: Path, description: Description) -> None:
    """Refuse a file that lies beside a description, and is nothing to it."""
    parts = {DESCRIPTION, *(image.file.name for image in description.images)}
    if place.is_file() and place.name not in parts:
        raise _no_module(place)


def _no_module(place: Path) -> RuntimeFault:
    return RuntimeFault(
        f"{place} is no module: that is a folder with a {DESCRIPTION}, or a file that this names;"
        " xiokv-gen build --target TARGET makes one"
    )


def check_file(description: Description, image: Image) -> None:
    """Refuse a module whose file is not the one that was described.

    A truncated library must not reach the loader: it would end the process.

    Args:
        description: the module's.
        image: the file that is about to be loaded.
    """
    try:
        found = hashlib.sha256(image.file.read_bytes()).hexdigest()
    except OSError as error:
        raise RuntimeFault(
            f"{image.file} cannot be read: {error.strerror};"
            f" {_HINT.format(target=description.target)}"
        ) from error
    if found != image.sha256:
        raise RuntimeFault(
            f"{image.file} is truncated or was changed: its SHA-256 is {found[:12]}..., its"
            f" description says {image.sha256[:12]}...;"
            f" {_HINT.format(target=description.target)}"
        )


class _Reader:
    """Takes a description apart; every fault names the member and the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def description(self, document: Any) -> Description:
        schema = self._member(document, "schema", str)
        if schema != SCHEMA:
            raise RuntimeFault(
                f"{self._path}: schema {schema!r}; this version of xiokv reads {SCHEMA!r}"
            )
        files = self._member(document, "files", dict)
        images = self._member(document, "images", list)
        if not images:
            raise RuntimeFault(f"{self._path}: images names no file")
        commands = self._member(document, "commands", dict)
        profile = self._member(document, "profile", dict)
        texts = ("target", "compiler", "generator", "facts", "spec")
        return Description(
            folder=self._path.parent,
            images=tuple(self._image(image, files) for image in images),
            arch=self._architectures(document),
            **{name: self._member(document, name, str) for name in texts},
            kernels={name: self._member(commands[name], "kernel", str) for name in commands},
            profile=self._member(profile, "name", str),
            fields=tuple(self._field(field) for field in self._member(profile, "fields", list)),
        )

    def _architectures(self, document: Any) -> str:
        """Return the one architecture of a host module, or all that a GPU's is for."""
        if isinstance(document.get("arch"), list):
            return ", ".join(map(str, document["arch"]))
        return self._member(document, "arch", str)

    def _image(self, image: Any, files: dict[str, Any]) -> Image:
        name = self._member(image, "file", str)
        if not name or "\0" in name or Path(name).name != name:
            raise RuntimeFault(f"{self._path}: {name!r} is no file beside the description")
        kernels = self._member(image, "kernels", dict)
        return Image(
            file=self._path.with_name(name),
            sha256=self._member(files, name, str),
            arch=self._member(image, "arch", str),
            wave=self._member(image, "wave", int),
            kernels={entry: self._member(kernels, entry, dict) for entry in kernels},
        )

    def _field(self, field: Any) -> SemanticField:
        bits = self._member(field, "bits", dict)
        taken = SemanticField(
            name=self._member(field, "name", str),
            dword=self._member(field, "dword", int),
            msb=self._member(bits, "msb", int),
            lsb=self._member(bits, "lsb", int),
            scope=self._member(field, "scope", str),
            commands=tuple(map(self._operation, self._member(field, "commands", list))),
        )
        lowest = _LOWEST_BIT.get(taken.dword, _NO_BIT)
        if not lowest <= taken.lsb <= taken.msb < _NO_BIT or taken.scope not in ("batch", "key"):
            raise RuntimeFault(
                f"{self._path} is damaged: field {taken.name!r} of scope {taken.scope!r} at"
                f" CDW{taken.dword}[{taken.msb}:{taken.lsb}] cannot be;"
                f" {_HINT.format(target='TARGET')}"
            )
        return taken

    def _operation(self, word: Any) -> Operation:
        try:
            return Operation.from_word(word)
        except ValueError as error:
            raise RuntimeFault(f"{self._path}: {error}; {_HINT.format(target='TARGET')}") from error

    def _member(self, holder: Any, name: str, kind: type[_T]) -> _T:
        value = holder.get(name) if isinstance(holder, dict) else None
        if not isinstance(value, kind):
            raise RuntimeFault(
                f"{self._path} is incomplete or damaged: {name} is missing or no"
                f" {kind.__name__}; {_HINT.format(target='TARGET')}"
            )
        return value
