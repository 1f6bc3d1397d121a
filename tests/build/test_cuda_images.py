"""NVIDIA's images: cubins with the figures that ptxas states, and PTX."""

from __future__ import annotations

from pathlib import Path

import pytest

from xiokv.runtime import toolchain
from xiokv.runtime.toolchain.ptxas import ptxas_figures

from .conftest import ROOT, described, write_kernels

# As nvcc of several versions writes them, in short.
OLDER = """
ptxas info    : 0 bytes gmem, 8 bytes cmem[4]
ptxas info    : Compiling entry function 'one' for 'sm_80'
ptxas info    : Function properties for one
    32 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 40 registers, 10332 bytes smem, 536 bytes cmem[0]
ptxas info    : Function properties for helper
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
"""
NEWER = """
ptxas info    : Compiling entry function 'one' for 'sm_90'
ptxas info    : Function properties for one
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 96 registers, used 1 barriers
ptxas info    : Compile time = 140.024 ms
"""


@pytest.fixture(scope="module")
def built(nvcc: str, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the two small kernels for an older GPU, and as PTX."""
    generated = write_kernels(tmp_path_factory.mktemp("cuda") / "generated")
    recipe = toolchain.recipe("cuda", generated, "0", ("sm_80", "compute_80"))
    return toolchain.build(recipe, shared / "cuda")


@pytest.mark.parametrize(
    ("said", "figures", "functions"),
    [
        (OLDER, (40, 10332, 32, 4, 8), ["helper"]),
        (NEWER, (96, 0, 0, 0, 0), []),
    ],
    ids=["12", "13"],
)
def test_figures_are_read_from_what_ptxas_says(
    said: str, figures: tuple[int, ...], functions: list[str]
) -> None:
    names = ("registers", "shared_bytes", "local_bytes", "spill_stores", "spill_loads")
    told = ptxas_figures(said)
    assert told["kernels"] == {"one": dict(zip(names, figures, strict=True))}
    assert told["functions"] == functions
    assert told["wave"] == 32


def test_a_compiler_that_tells_nothing_gives_no_figures() -> None:
    assert ptxas_figures("")["kernels"] == {}


def test_there_are_cubins_and_ptx(built: Path) -> None:
    document = described(built)
    assert document["arch"] == ["sm_80", "compute_80"]
    assert list(document["files"]) == ["xiokv_compute_80.ptx", "xiokv_sm_80.cubin"]
    assert (built / "xiokv_sm_80.cubin").read_bytes()[:4] == b"\x7fELF"
    assert ".target sm_80" in (built / "xiokv_compute_80.ptx").read_text()


def test_what_is_known_of_a_kernel_is_told(built: Path) -> None:
    cubin, ptx = described(built)["images"]
    assert set(cubin["kernels"]) == {"lean", "costly"}
    lean, costly = cubin["kernels"]["lean"], cubin["kernels"]["costly"]
    assert lean["shared_bytes"] == 30 * 4
    assert lean["local_bytes"] == lean["spill_stores"] == lean["spill_loads"] == 0
    assert costly["local_bytes"] >= 4 * 4
    assert 0 < lean["registers"] <= 255
    assert ptx["kernels"] == {}


def test_local_memory_and_calls_make_a_line(built: Path) -> None:
    (line,) = toolchain.costs(built)
    assert line.startswith("xiokv_sm_80.cubin: ")
    assert "bytes of local memory in costly, calls of " in line


@pytest.mark.slow
def test_the_kernels_of_this_checkout_compile_for_every_gpu(nvcc: str, tmp_path: Path) -> None:
    folder = toolchain.build(toolchain.recipe("cuda", ROOT / "generated", "0"), tmp_path / "out")
    assert described(folder)["arch"] == ["sm_80", "sm_90", "compute_80"]
    kernels = {entry["kernel"] for entry in described(folder)["commands"].values()}
    for image in described(folder)["images"][:2]:
        assert set(image["kernels"]) == kernels
