"""The machine code of the shipped kernels keeps to the rules, and the rules can tell."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from xiokv.runtime.toolchain.code_object import code_object_figures

from .faults import FAULTS
from .isa.architecture import ARCHITECTURES
from .isa.listing import functions
from .isa.rules import complaints
from .kernels import changed, code_object

# One of them is quick.
SHIPPED = [
    pytest.param(name, marks=[] if name == "gfx1100" else pytest.mark.slow)
    for name in ARCHITECTURES
]
COMMANDS = ("delete", "exist", "list", "retrieve", "store")


def complaints_about(path: Path, architecture: str) -> list[str]:
    """Return what is wrong with the kernels of a code object, each line with its kernel."""
    objdump = os.environ.get("XIOKV_LLVM_OBJDUMP", "llvm-objdump-19")
    if shutil.which(objdump) is None:
        pytest.skip(f"{objdump} is not installed: apt-get install llvm-19")
    done = subprocess.run([objdump, "-d", path], capture_output=True, text=True, check=True)
    kernels = code_object_figures(path)["kernels"]
    return [
        f"{name}: {complaint}"
        for name, function in functions(done.stdout).items()
        if name in kernels
        for complaint in complaints(function, ARCHITECTURES[architecture])
    ]


def costs_of(path: Path) -> dict[str, int]:
    """Return what the kernels take beside registers, by kernel and kind; and what they call."""
    figures = code_object_figures(path)
    kinds = ("scratch_bytes", "sgpr_spills", "vgpr_spills")
    costs = {
        f"{name}: {kind}": kernel[kind]
        for name, kernel in figures["kernels"].items()
        for kind in kinds
        if kernel[kind]
    }
    return {**costs, **dict.fromkeys(figures["functions"], 1)}


@pytest.mark.parametrize("architecture", SHIPPED)
def test_the_shipped_kernels_keep_to_the_rules(architecture: str) -> None:
    assert complaints_about(code_object(architecture), architecture) == []


@pytest.mark.parametrize("architecture", SHIPPED)
def test_the_shipped_kernels_use_no_scratch_spill_no_register_and_call_nothing(
    architecture: str,
) -> None:
    path = code_object(architecture)
    kernels = code_object_figures(path)["kernels"]
    assert sorted(kernels) == [f"xiokv_batch_{command}" for command in COMMANDS]
    assert costs_of(path) == {}


# The words of the complaint that a fault in the engine leads to.
COMPLAINTS = {
    "no release before the doorbell": "not released at the barrier",
    "a release as far as the GPU": "not released at the barrier",
    "a release by the first wave alone": "not released at the barrier",
    "a release after the barrier": "not released at the barrier",
    "no barriers": "no barrier before the SQ doorbell",
    "the doorbell before the barrier": "a store between the barrier and the SQ doorbell",
    "no acquire after the phase match": "since a barrier before",
    "an acquire after the second read": "since a barrier before",
    "no second read": "no load of a completion is for its phase alone",
    "an entry loaded dword by dword": "is read by a load of 4 bytes",
    "an entry loaded through the caches": "is read through the caches",
    "an entry stored by halves of a quarter": "a store of 8 bytes to the submission ring",
    "functions that are called": "calls",
}

# No cache of this architecture holds stores back from the host, and its compiler waits for
# all stores before every barrier.
NO_FAULT = {
    "gfx1100": {name for name in COMPLAINTS if name.startswith(("no release", "a release"))}
}


# What architectures have in ways of their own: all of it, or what orders memory.
EVERY = [(name, architecture) for architecture in ("gfx942", "gfx1201") for name in COMPLAINTS]
ORDER = [
    (name, architecture)
    for architecture in ("gfx90a", "gfx1100")
    for name in COMPLAINTS
    if "release" in name or "acquire" in name
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "architecture"), EVERY + ORDER)
def test_a_fault_put_into_the_engine_breaks_a_rule(name: str, architecture: str) -> None:
    found = complaints_about(changed(architecture, "retrieve", FAULTS[name]), architecture)
    if name in NO_FAULT.get(architecture, ()):
        assert found == []
    else:
        assert any(COMPLAINTS[name] in complaint for complaint in found), found


@pytest.mark.slow
def test_too_few_registers_are_told() -> None:
    told = costs_of(changed("gfx942", "exist", FAULTS["too few registers"]))
    assert {"xiokv_batch_exist: scratch_bytes", "xiokv_batch_exist: vgpr_spills"} <= told.keys()
