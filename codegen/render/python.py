"""The Python twin: the spec as one self-contained Python module.

In: the spec. Out: the module's text. The views below hold what the templates print, so
that those need no computation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xiokv.codegen.render.completion import CompletionPart, completion_parts
from xiokv.codegen.render.ctypes_view import CtypesClass, classes
from xiokv.codegen.render.dtype_view import Dtype, dtypes
from xiokv.codegen.render.env import render
from xiokv.codegen.spec.model import PublicEnum, Spec

_FLAGS = ("StoreOption", "RetrieveOption")


@dataclass(frozen=True, slots=True)
class EnumClass:
    """An enum and the Python class it derives from."""

    enum: PublicEnum
    base: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant under its name in the module."""

    name: str
    value: int
    brief: str


@dataclass(frozen=True, slots=True)
class Twin:
    """Everything that the templates of the twin print."""

    spec: Spec
    constants: tuple[Constant, ...]
    enums: tuple[EnumClass, ...]
    classes: tuple[CtypesClass, ...]
    dtypes: tuple[Dtype, ...]
    completion: tuple[CompletionPart, ...]
    public: tuple[str, ...]


def twin(spec: Spec) -> str:
    """Return the text of the module."""
    return render("python/twin.py.j2", twin=_view(spec))


def _view(spec: Spec) -> Twin:
    constants = tuple(
        Constant(c.name.removeprefix("XIOKV_"), c.value, c.brief) for c in spec.constants
    )
    return Twin(
        spec=spec,
        constants=constants,
        enums=tuple(EnumClass(e, _base(e)) for e in spec.enums),
        classes=tuple(classes(spec.records)),
        dtypes=tuple(dtypes(spec.records)),
        completion=completion_parts(spec),
        public=tuple(sorted([*_names(spec), *(c.name for c in constants), *_types(spec)])),
    )


_FUNCTIONS = (
    *("Command", "Completion", "Operation", "STATUS", "decode_command", "decode_completion"),
    *("decode_list", "dtype", "encode"),
)
_HASHES = ("FACTS_SHA256", "SPEC_SHA256", "UPSTREAM_COMMIT")
_EXEC_NAMES = ("ExecCommand", "decode_exec", "encode_exec", "pack_exec", "unpack_exec")


def _names(spec: Spec) -> Iterator[str]:
    yield from (*_FUNCTIONS, *_HASHES)
    if spec.exec:
        yield from _EXEC_NAMES


def _types(spec: Spec) -> Iterator[str]:
    yield from (enum.python for enum in spec.enums)
    yield from (record.name for record in spec.records)


def _base(enum: PublicEnum) -> str:
    return "enum.IntFlag" if enum.python in _FLAGS else "enum.IntEnum"
