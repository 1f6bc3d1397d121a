"""The C headers and the Python twin agree on any input, valid or not."""

from __future__ import annotations

import ctypes
import sys
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from xiokv.codegen.render.python import twin as render_twin
from xiokv.codegen.spec.model import Spec

COMMANDS = st.sampled_from(("store", "retrieve", "list", "delete", "exist"))
EXAMPLES = settings(
    max_examples=300,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def near(*edges: int) -> st.SearchStrategy[int]:
    """Return numbers that are often at an edge of what is allowed."""
    return st.one_of(st.sampled_from(edges), st.integers(0, 2**32 + 1))


REQUESTS = st.fixed_dictionaries(
    {
        "nsid": near(0, 1, 2**32 - 2, 2**32 - 1).map(lambda nsid: nsid % 2**32),
        "key": st.binary(min_size=0, max_size=18),
        "value_size": near(0, 0, 1, 2**32 - 1, 2**32),
        "options": st.sampled_from((0, 0, 1, 2, 3, 4, 7, 8, 255)),
    }
)


@pytest.fixture(scope="module")
def twin(spec: Spec) -> ModuleType:
    """Return the twin of the very spec that the headers come from."""
    module = ModuleType("twin_under_test")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    exec(compile(render_twin(spec), "twin.py", "exec"), module.__dict__)
    return module


def encode_in_c(shim: Any, command: str, request: dict[str, Any]) -> bytes | None:
    """Return the entry, or None where C refuses the request."""
    # The encoders of commands without a size or options have no parameter for them.
    unsized = command in ("delete", "exist") and request["value_size"]
    if unsized or (command not in ("store", "retrieve") and request["options"]):
        return None
    error, entry = shim.encode(command, **request)
    return entry if error == "OK" else None


@EXAMPLES
@given(command=COMMANDS, request_=REQUESTS)
def test_both_encode_alike_and_refuse_alike(
    shim: Any, twin: ModuleType, command: str, request_: dict[str, Any]
) -> None:
    try:
        expected = twin.encode(command, **request_)
    except ValueError:
        expected = None
    assert encode_in_c(shim, command, request_) == expected


class Completion(ctypes.Structure):
    _fields_ = (
        ("dw0", ctypes.c_uint32),
        *((name, ctypes.c_uint16) for name in ("sqhd", "sqid", "cid")),
        *((name, ctypes.c_uint8) for name in ("phase", "sct", "sc", "crd", "more", "dnr")),
    )


@EXAMPLES
@given(entry=st.binary(min_size=16, max_size=16))
def test_both_decode_a_completion_alike(shim: Any, twin: ModuleType, entry: bytes) -> None:
    memory = (ctypes.c_uint64 * 4)()
    start = ctypes.addressof(memory) + -ctypes.addressof(memory) % 16
    ctypes.memmove(start, entry, 16)
    found = Completion()
    shim.library.shim_decode(ctypes.c_void_p(start), ctypes.byref(found))
    expected = twin.decode_completion(entry)
    for name, _ in Completion._fields_:
        assert getattr(found, name) == getattr(expected, name), name
