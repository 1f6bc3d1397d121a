"""costs: a line for each file whose kernels use more than registers and LDS."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from xiokv.runtime import toolchain


@pytest.mark.parametrize(
    ("kernels", "functions", "told"),
    [
        ({}, [], ()),
        ({"one": {"scratch_bytes": 0, "vgpr_spills": 0, "lds_bytes": 9}}, [], ()),
        ({"one": {"vgpr_spills": 2}}, [], ("2 spilled vector registers in one",)),
        ({"one": {"sgpr_spills": 2}}, [], ("2 spilled scalar registers in one",)),
        (
            {"one": {"scratch_bytes": 8}, "two": {"scratch_bytes": 16}},
            ["f", "g"],
            ("16 bytes of scratch in two", "calls of f, g"),
        ),
        (
            {"one": {"local_bytes": 8, "spill_stores": 4, "spill_loads": 12}},
            [],
            (
                "8 bytes of local memory in one",
                "4 bytes of spill stores in one",
                "12 bytes of spill loads in one",
            ),
        ),
    ],
)
def test_the_worst_kernel_is_named(
    tmp_path: Path, kernels: dict, functions: list[str], told: tuple[str, ...]
) -> None:
    image = {"file": "a", "kernels": kernels, "functions": functions}
    (tmp_path / "module.json").write_text(json.dumps({"images": [image]}))
    lines = (f"a: {', '.join(told)}; see module.json",) if told else ()
    assert toolchain.costs(tmp_path) == lines
