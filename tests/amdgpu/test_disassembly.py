"""The machine code of the shipped kernels keeps to the rules, and the rules can tell."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from xiokv.runtime.toolchain.code_object import code_object_figures

from .isa.architecture import ARCHITECTURES
from .isa.listing import functions
from .isa.rules import complaints
from .kernels import Edit, changed, code_object

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


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_shipped_kernels_keep_to_the_rules(architecture: str) -> None:
    assert complaints_about(code_object(architecture), architecture) == []


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_shipped_kernels_use_no_scratch_spill_no_register_and_call_nothing(
    architecture: str,
) -> None:
    path = code_object(architecture)
    kernels = code_object_figures(path)["kernels"]
    assert sorted(kernels) == [f"xiokv_batch_{command}" for command in COMMANDS]
    assert costs_of(path) == {}


# A fault in the engine, and the words of the complaint that it leads to.
FAULTS: dict[str, tuple[str, tuple[Edit, ...]]] = {
    "no release before the doorbell": (
        "not released at the barrier",
        (('  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "");\n', ""),),
    ),
    "a release as far as the GPU alone": (
        "not released at the barrier",
        (('fence(__ATOMIC_RELEASE, "");', 'fence(__ATOMIC_RELEASE, "agent");'),),
    ),
    "a release after the barrier": (
        "not released at the barrier",
        (
            ("  xiokv_release_system();\n", ""),
            (
                "  if (room != 0)\n    xiokv_ring",
                "  xiokv_release_system();\n  if (room != 0)\n    xiokv_ring",
            ),
        ),
    ),
    "no acquire after the phase match": (
        "since a barrier before",
        (('  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "");\n', ""),),
    ),
    "an acquire after the second read": (
        "since a barrier before",
        (
            ("    xiokv_acquire_system();\n", ""),
            ("  return look;\n", "  xiokv_acquire_system();\n  return look;\n"),
        ),
    ),
    "no second read": (
        "no load of a completion is for its phase alone",
        (
            ("xiokv_look look = {};", "xiokv_look look = {};\n  look.again = engine.seen;"),
            ("      look.again = xiokv_load16(xiokv_cqe_at(engine, lane));\n", "      ;\n"),
            (
                "  xiokv_tell(engine, look);\n",
                "  xiokv_tell(engine, look);\n  engine.seen = look.ahead;\n",
            ),
            ("  uint32_t tail; ", "  xiokv_words seen = {};\n  uint32_t tail; "),
        ),
    ),
    "a completion read dword by dword": (
        "is read by a load of 4 bytes",
        (
            (
                "  const xiokv_vector v = *static_cast<const volatile xiokv_vector *>(address);\n",
                "  const volatile uint32_t *w = static_cast<const volatile uint32_t *>(address);\n"
                "  const xiokv_vector v = {w[0], w[1], w[2], w[3]};\n",
            ),
        ),
    ),
    "a completion read through the caches": (
        "is read through the caches",
        (("const volatile xiokv_vector *", "const xiokv_vector *"),),
    ),
    "an entry stored by halves of a quarter": (
        "a store of 8 bytes to the submission ring",
        (
            (
                "  *static_cast<xiokv_vector *>(address) = v;\n",
                "  static_cast<volatile uint64_t *>(address)[0] = v.x | uint64_t(v.y) << 32;\n"
                "  static_cast<volatile uint64_t *>(address)[1] = v.z | uint64_t(v.w) << 32;\n",
            ),
        ),
    ),
    "no barrier before the doorbell": (
        "no barrier before the SQ doorbell",
        (("  __builtin_amdgcn_s_barrier();\n", ""),),
    ),
    "the doorbell before the barrier": (
        "a store between the barrier and the SQ doorbell",
        (
            (
                "  xiokv_barrier();\n  const uint32_t seen =",
                "  if (room != 0)\n    xiokv_ring_doorbell(engine, room);\n"
                "  xiokv_barrier();\n  const uint32_t seen =",
            ),
            ("0;\n  if (room != 0)\n    xiokv_ring_doorbell(engine, room);\n", "0;\n"),
        ),
    ),
    "functions that are called": (
        "calls",
        (
            (
                "XIOKV_DEVICE void xiokv_pause() { __builtin_amdgcn_s_sleep(1); }",
                "static __attribute__((device)) __attribute__((noinline)) void xiokv_pause() {\n"
                "  __builtin_amdgcn_s_sleep(1);\n}",
            ),
        ),
    ),
}


# What is no fault where a barrier of the workgroup waits for every store of its waves, and
# no cache holds stores back from the host.
NO_FAULT = {
    "gfx1100": {
        "no release before the doorbell",
        "a release as far as the GPU alone",
        "a release after the barrier",
    }
}


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["gfx90a", "gfx942", "gfx1100", "gfx1201"])
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_put_into_the_engine_breaks_a_rule(name: str, architecture: str) -> None:
    words, edits = FAULTS[name]
    found = complaints_about(changed(architecture, "exist", edits), architecture)
    if name in NO_FAULT.get(architecture, ()):
        assert found == []
    else:
        assert any(words in complaint for complaint in found), found


def test_too_few_registers_are_told() -> None:
    few = "amdgpu_flat_work_group_size(256, 256), amdgpu_num_vgpr(24)"
    edits = (("amdgpu_flat_work_group_size(256, 256)", few),)
    told = costs_of(changed("gfx942", "exist", edits))
    assert {"xiokv_batch_exist: scratch_bytes", "xiokv_batch_exist: vgpr_spills"} <= told.keys()
