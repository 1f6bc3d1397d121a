"""Modules of projects with a namespace: what the runtime finds in them, and does with them."""

from __future__ import annotations

import json
import shutil
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from tests.build_systems.conftest import well
from xiokv import runtime
from xiokv.runtime import Emulator, Module, toolchain
from xiokv.runtime.emulator import ExecOperation

from .conftest import Make, Project

COMPILERS = {"hip": "clang++-19", "cuda": "nvcc"}
TOOLS = Path("/usr/lib/llvm-19/bin")


def built(project: Project, target: str, *architectures: str) -> Path:
    """Return a project's module, of one file; what was compiled before is kept."""
    if target in COMPILERS and not shutil.which(COMPILERS[target]):
        pytest.skip(f"{COMPILERS[target]} is not installed")
    recipe = toolchain.recipe(target, project.generated, version("xiokv"), architectures)
    return toolchain.build_cached(recipe)


def module_of(project: Project) -> Module:
    return runtime.load("host", module=built(project, "host"))


def stored(controller: Emulator) -> list[tuple[int, int]]:
    """Return CDW11[31:16] and CDW12 of the Stores in the trace."""
    dwords = [np.frombuffer(r.data, "<u4") for r in controller.trace() if r.kind == "sqe" and r.qid]
    return [(int(sqe[11] >> 16), int(sqe[12])) for sqe in dwords if sqe[0] & 0xFF == 1]


def test_modules_of_two_projects_run_side_by_side(acme: Project, storage: Project) -> None:
    """Each with the fields of its own profile, at the same time, on one controller."""
    keys, blocks = [b"key %d" % n for n in range(40)], np.arange(40 * 64, dtype=np.uint8)
    out, lengths = np.zeros_like(blocks), np.zeros(40, np.uint64)
    with (
        Emulator(exec=True) as controller,
        module_of(acme).attach(controller, block_size=64) as ours,
        module_of(storage).attach(controller, block_size=64) as theirs,
    ):
        controller.trace_start()
        ours.store(keys, blocks, generation=range(40), reuse_class=5).raise_for_status()
        assert sorted(stored(controller)) == [(5, n) for n in range(40)]
        theirs.store(keys, blocks, layer=200).raise_for_status()
        assert stored(controller) == [(0, 200)] * 40
        ours.retrieve(keys, out, generation=1).raise_for_status()
        with pytest.raises(runtime.ArgumentFault, match="no argument or semantic field"):
            theirs.retrieve(keys, out, generation=1)
        ours.exec(keys, ExecOperation.LENGTH, out=lengths).raise_for_status()
        with pytest.raises(runtime.ArgumentFault, match="without the vendor command Exec"):
            theirs.exec(keys, ExecOperation.LENGTH, out=lengths)
    assert (out == blocks).all()
    assert lengths.tolist() == [64] * 40


CODE = {
    "gfx942": ("hip", (".text", ".rodata")),  # instructions, descriptors of kernels
    "gfx1100": ("hip", (".text", ".rodata")),
    "sm_90": ("cuda", (".text.xiokv_batch_store", ".text.xiokv_batch_exec")),
}


@pytest.mark.parametrize("arch", CODE)
def test_code_for_gpus_is_the_same_with_and_without_a_namespace(
    acme: Project, make: Make, tmp_path: Path, arch: str
) -> None:
    target, sections = CODE[arch]
    ours = shutil.copy(built(acme, target, arch), tmp_path / "ours")
    usual = shutil.copy(
        built(make("", "kv_cache", has_exec=True), target, arch), tmp_path / "usual"
    )
    for section in sections:
        assert _section(section, ours)
        assert _section(section, ours) == _section(section, usual)
    described = json.loads((acme.generated / "kernels/kv_module.json").read_text("utf-8"))
    kernels = {command["kernel"] for command in described["commands"].values()}
    assert kernels | {"xiokv_module_abi", "xiokv_module_spec"} <= _names(ours)


def _section(name: str, file: Path) -> bytes:
    made = file.with_suffix(".section")
    well(TOOLS / "llvm-objcopy", "-O", "binary", f"--only-section={name}", file, made)
    return made.read_bytes()


def _names(file: Path) -> set[str]:
    return set(well(TOOLS / "llvm-nm", "--defined-only", "--format=just-symbols", file).split())
