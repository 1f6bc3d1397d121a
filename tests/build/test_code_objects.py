"""AMD code objects: what is made for each GPU, and that its figures are those of the file.

The oracle is LLVM's own reader of ELF files.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from xiokv.runtime import toolchain
from xiokv.runtime.description import check_file, read_description
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.images import choose_image
from xiokv.runtime.toolchain.code_object import code_object_figures

from .conftest import ARCHITECTURES, described

COMMANDS = ("delete", "exist", "list", "retrieve", "store")
WAVES = {"gfx90a": 64, "gfx942": 64, "gfx1100": 32, "gfx1151": 32, "gfx1201": 32}
READELF = "llvm-readelf-19"
NOTE_NAMES = {
    "vgprs": "vgpr_count",
    "agprs": "agpr_count",
    "sgprs": "sgpr_count",
    "lds_bytes": "group_segment_fixed_size",
    "scratch_bytes": "private_segment_fixed_size",
    "vgpr_spills": "vgpr_spill_count",
    "sgpr_spills": "sgpr_spill_count",
    "kernarg_bytes": "kernarg_segment_size",
}


def read_elf(*arguments: str | Path) -> str:
    if shutil.which(READELF) is None:
        pytest.skip(f"{READELF} is not installed")
    return subprocess.run([READELF, *arguments], capture_output=True, text=True, check=True).stdout


def kernels_in_note(file: Path) -> dict[str, dict[str, object]]:
    """Return the figures of each kernel as the reader prints them."""
    _, *parts = re.split(r"^  - ", read_elf("--notes", file), flags=re.MULTILINE)
    found: dict[str, dict[str, object]] = {}
    for part in parts:
        members = dict(re.findall(r"^(?:    )?\.(\w+): +(\S+)$", part, re.MULTILINE))
        if "name" not in members:
            continue
        arguments = re.findall(r"\.offset: +(\d+)\s+\.size: +(\d+)\s+\.value_kind: +(\w+)", part)
        found[members["name"]] = {
            **{name: int(members.get(key, 0)) for name, key in NOTE_NAMES.items()},
            "arguments": [
                {"offset": int(offset), "size": int(size), "kind": kind}
                for offset, size, kind in arguments
            ],
        }
    return found


def test_one_build_makes_a_code_object_for_each_gpu(whole: Path) -> None:
    document = described(whole)
    files = [f"xiokv_{name}.hsaco" for name in ARCHITECTURES]
    assert sorted(path.name for path in whole.iterdir()) == sorted([".lock", "module.json", *files])
    assert document["target"] == "hip"
    assert document["arch"] == list(ARCHITECTURES)
    assert [image["file"] for image in document["images"]] == files
    assert {image["arch"]: image["wave"] for image in document["images"]} == WAVES


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_code_object_is_of_version_5_and_for_its_gpu(whole: Path, architecture: str) -> None:
    header = read_elf("--file-header", whole / f"xiokv_{architecture}.hsaco")
    assert re.search(r"OS/ABI: +AMDGPU - HSA", header)
    assert re.search(r"ABI Version: +3\n", header)  # that of code object version 5
    assert re.search(rf"Flags: .*\b{architecture}\b", header)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_figures_are_those_of_the_note(whole: Path, architecture: str) -> None:
    (image,) = (found for found in described(whole)["images"] if found["arch"] == architecture)
    assert set(image["kernels"]) == {f"xiokv_batch_{command}" for command in COMMANDS}
    assert image["kernels"] == kernels_in_note(whole / image["file"])


def test_what_is_known_of_a_kernel_is_told(small: Path) -> None:
    image = described(small)["images"][1]
    lean, costly = image["kernels"]["lean"], image["kernels"]["costly"]
    assert lean["lds_bytes"] == 30 * 4
    assert lean["scratch_bytes"] == 0
    assert lean["kernarg_bytes"] == 8 + 4 + 4
    assert lean["arguments"] == [
        {"offset": 0, "size": 8, "kind": "global_buffer"},
        {"offset": 8, "size": 4, "kind": "by_value"},
        {"offset": 12, "size": 4, "kind": "by_value"},
    ]
    assert costly["scratch_bytes"] >= 4 * 4
    assert image["kernels"] == kernels_in_note(small / image["file"])


def test_a_function_that_is_called_is_named(small: Path) -> None:
    image = described(small)["images"][0]
    symbols = read_elf("--symbols", small / image["file"])
    (name,) = set(re.findall(r" FUNC .* (\w*called\w*)$", symbols, re.MULTILINE))
    assert image["functions"] == [name]


def test_features_belong_to_the_architecture_of_an_image(small: Path) -> None:
    image = described(small)["images"][0]
    header = read_elf("--file-header", small / image["file"])
    assert image["file"] == "xiokv_gfx942_sramecc+_xnack-.hsaco"
    assert image["arch"] == "gfx942:sramecc+:xnack-"
    assert re.search(r"Flags: .*gfx942, xnack-, sramecc\+", header)


def test_scratch_and_calls_make_a_line_for_each_file(small: Path) -> None:
    lines = toolchain.costs(small)
    files = [line.split(":")[0] for line in lines]
    assert files == ["xiokv_gfx942_sramecc+_xnack-.hsaco", "xiokv_gfx1100.hsaco"]
    for line in lines:
        assert re.search(r": \d+ bytes of scratch in costly, calls of \w*called\w*; see", line)


def test_the_runtime_reads_what_was_built_and_chooses_from_it(whole: Path) -> None:
    description = read_description(whole)
    image = choose_image(description, "gfx942:sramecc+:xnack-")
    check_file(description, image)
    assert image.file == whole / "xiokv_gfx942.hsaco"
    assert image.wave == 64
    assert set(image.kernels) == set(description.kernels.values())
    assert description.library == whole


@pytest.mark.parametrize("damage", ["cut", "text", "another"])
def test_a_file_that_is_no_code_object_is_refused(small: Path, tmp_path: Path, damage: str) -> None:
    whole = (small / "xiokv_gfx1100.hsaco").read_bytes()
    other = Path(shutil.which("true") or "").read_bytes()
    file = tmp_path / "file"
    file.write_bytes({"cut": whole[:600], "text": b"no code object", "another": other}[damage])
    with pytest.raises(RuntimeFault, match="file is no AMD code object that xiokv can read"):
        code_object_figures(file)
