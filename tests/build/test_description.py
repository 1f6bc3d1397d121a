"""module.json of several images: what is read of it, and what is refused."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from xiokv.runtime.description import check_file, read_description
from xiokv.runtime.errors import RuntimeFault

ONE, TWO = b"one", b"two"


def image(architecture: str, **changes: Any) -> dict[str, Any]:
    told = {"arch": architecture, "file": f"{architecture}.hsaco", "wave": 64, "kernels": {}}
    return {**told, **changes}


def write(folder: Path, **changes: Any) -> Path:
    """Write a module of two images with members of its description changed; None removes."""
    (folder / "gfx90a.hsaco").write_bytes(ONE)
    (folder / "gfx942.hsaco").write_bytes(TWO)
    digests = {"gfx90a.hsaco": ONE, "gfx942.hsaco": TWO}
    document = {
        "schema": "xiokv-module/1",
        **dict.fromkeys(("compiler", "generator", "facts", "spec"), "x"),
        "target": "hip",
        "arch": ["gfx90a", "gfx942"],
        "commands": {"store": {"kernel": "xiokv_batch_store"}},
        "profile": {"name": "default", "fields": []},
        "files": {name: hashlib.sha256(text).hexdigest() for name, text in digests.items()},
        "images": [
            image("gfx90a", kernels={"xiokv_batch_store": {"vgprs": 40}}),
            image("gfx942"),
        ],
        **changes,
    }
    kept = {name: value for name, value in document.items() if value is not None}
    (folder / "module.json").write_text(json.dumps(kept))
    return folder


def test_every_image_is_read(tmp_path: Path) -> None:
    description = read_description(write(tmp_path))
    first, second = description.images
    assert (first.file, second.file) == (tmp_path / "gfx90a.hsaco", tmp_path / "gfx942.hsaco")
    assert first.kernels == {"xiokv_batch_store": {"vgprs": 40}}
    assert description.library == tmp_path
    assert description.built.startswith("hip module for gfx90a, gfx942, spec x")


def test_one_image_is_the_library(tmp_path: Path) -> None:
    description = read_description(write(tmp_path, images=[image("gfx942")]))
    assert description.library == tmp_path / "gfx942.hsaco"


@pytest.mark.parametrize("place", ["", "module.json", "gfx942.hsaco"])
def test_a_module_is_named_by_any_of_its_files(tmp_path: Path, place: str) -> None:
    write(tmp_path)
    assert read_description(tmp_path / place).target == "hip"


def test_the_image_that_is_loaded_is_the_one_that_is_checked(tmp_path: Path) -> None:
    description = read_description(write(tmp_path))
    (tmp_path / "gfx942.hsaco").write_bytes(b"cut")
    check_file(description, description.images[0])
    with pytest.raises(RuntimeFault, match=r"gfx942\.hsaco is truncated or was changed"):
        check_file(description, description.images[1])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"images": None}, "images is missing or no list"),
        ({"images": {}}, "images is missing or no list"),
        ({"images": []}, "images names no file"),
        ({"images": [{}]}, "file is missing or no str"),
        ({"images": [7]}, "file is missing or no str"),
        ({"images": [image("gfx942", wave="64")]}, "wave is missing or no int"),
        ({"images": [image("gfx942", arch=None)]}, "arch is missing or no str"),
        ({"images": [image("gfx942", kernels=[])]}, "kernels is missing or no dict"),
        ({"images": [image("gfx942", kernels={"a": 1})]}, "a is missing or no dict"),
        ({"images": [image("gfx1100")]}, "gfx1100.hsaco is missing or no str"),
        ({"images": [image("gfx942", file="../a")]}, "'../a' is no file beside the description"),
        ({"arch": None}, "arch is missing or no str"),
        ({"files": None}, "files is missing or no dict"),
    ],
)
def test_images_of_another_shape_are_refused(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(RuntimeFault) as caught:
        read_description(write(tmp_path, **changes))
    assert said in str(caught.value)
    assert str(tmp_path / "module.json") in str(caught.value)
