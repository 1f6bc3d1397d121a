"""What a library has to have on its outside, beside its description."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xiokv.runtime import abi
from xiokv.runtime.module import load

from .conftest import LIBRARY, describe, edit, refusal

SPEC = "5" * 64
KERNELS = ("store", "retrieve")

# A library of a module's outside: its identity, and kernels that do nothing.
OUTSIDE = """
#include <cstdint>
extern "C" {{
uint64_t xiokv_module_abi[2] = {{{version}u, {layout}u}};
char xiokv_module_spec[65] = "{spec}";
{kernels}
}}
"""


@pytest.fixture
def outside(copy) -> Callable[..., Path]:
    """Return a function that makes a module with the given outside and nothing within."""

    def make(**changes: Any) -> Path:
        folder = copy()
        version, layout = abi.VERSION, abi.layout_hash()
        values = {"version": version, "layout": layout, "spec": SPEC, "names": KERNELS, **changes}
        values["kernels"] = "".join(f"void xiokv_batch_{n}() {{}}\n" for n in values["names"])
        text = OUTSIDE.format(**values)
        for name in changes.get("without", ()):
            text = text.replace(name, "xiokv_other")
        (folder / LIBRARY).unlink()
        command = ["g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", folder / LIBRARY]
        subprocess.run(command, input=text, text=True, check=True)
        kernels = {name: {"kernel": f"xiokv_batch_{name}"} for name in KERNELS}
        edit(folder, spec=SPEC, commands=kernels)
        describe(folder)
        return folder

    return make


def test_a_module_whose_outside_fits_is_loaded(outside) -> None:
    assert load(module=outside()).description.spec == SPEC


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": 99}, f"has ABI version 99, the runtime {abi.VERSION}"),
        ({"layout": 0xABC}, f"(0000000000000abc) than the runtime does ({abi.layout_hash():016x})"),
        ({"spec": "6" * 64}, "holds spec 666666666666, its description says 555555555555"),
        ({"names": ("store",)}, "lacks xiokv_batch_retrieve"),
        ({"without": ("xiokv_module_abi",)}, "lacks xiokv_module_abi"),
        ({"without": ("xiokv_module_spec",)}, "lacks xiokv_module_spec"),
    ],
    ids=["version", "layout", "spec", "kernel", "abi symbol", "spec symbol"],
)
def test_a_module_that_does_not_fit_is_refused(outside, changes, said: str) -> None:
    first, built, running, *_ = refusal(outside(**changes)).splitlines()
    assert said in first
    assert "xiokv-gen build --target host" in first
    assert built.startswith(f"built: host module for {platform.machine()}, spec 555555555555")
    assert running.startswith(f"running: {platform.machine()}, ABI version {abi.VERSION}")
