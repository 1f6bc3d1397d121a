"""Semantic fields of a profile are on the wire of every target: for the batch, and for each key.

The profile is the packaged kv_cache: `generation`, CDW12, of scope key, and `reuse_class`,
CDW11[19:16], of scope batch. The sources are those of a project that names it.
"""

from __future__ import annotations

import struct
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from tests.targets.device import Target, content, keys_of, random_values
from xiokv import runtime
from xiokv.runtime import Emulator, Module, toolchain

SIZE = 64
STORE = 0x01
ARCHITECTURES = {"hip": ("gfx942", "gfx1100"), "host": (), "cuda": ()}
PROJECT = """\
[upstream]
ref = "bundled"
[semantics]
profile = "kv_cache"
[output]
dir = "generated"
emit = ["headers", "engine"]
"""


def module_of(target: Target, folder: Path) -> Module:
    """Return the target's module with the profile's fields, rendered by a project's build."""
    assert target.module  # skips where there is no such device
    (folder / "xiokv.toml").write_text(PROJECT, encoding="utf-8")
    for command in ("fetch", "build"):
        program = Path(sys.executable).with_name("xiokv-gen")
        subprocess.run([program, command], cwd=folder, capture_output=True, check=True)
    architectures = ARCHITECTURES[target.name]
    recipe = toolchain.recipe(target.name, folder / "generated", version("xiokv"), architectures)
    return runtime.load(target.name, module=toolchain.build_cached(recipe))


def commands(controller: Emulator) -> list[tuple[int, int, int, int]]:
    """Return (opcode, CDW11, CDW12, CDW13) of the commands in the trace."""
    entries = [record.data for record in controller.trace() if record.kind == "sqe" and record.qid]
    return sorted((entry[0], *struct.unpack_from("<3I", entry, 44)) for entry in entries)


@pytest.mark.parametrize("count", [3, 300])
def test_fields_for_the_batch_and_for_each_key(target: Target, tmp_path: Path, count: int) -> None:
    """More keys than are read in place among them; values come back as they were stored."""
    controller, kv = target.attach(module=module_of(target, tmp_path), queues=2, block_size=SIZE)
    keys, values = keys_of(count), random_values(count, SIZE)
    tags = np.arange(count, dtype=np.uint32) + np.uint32(0xFFFF_FFFF - count)
    lengths = sorted(zip(tags.tolist(), map(len, keys), strict=True))
    given, out = target.memory(values), target.memory(np.zeros_like(values))

    controller.trace_start()
    kv.store(keys, given, generation=tags, reuse_class=9).raise_for_status()
    stored = commands(controller)
    kv.retrieve(keys, out, generation=7, reuse_class=15).raise_for_status()
    retrieved = commands(controller)
    kv.exist(keys).raise_for_status()

    assert (content(out, values) == values).all()
    by_tag = sorted(stored, key=lambda words: words[2])
    assert by_tag == [(STORE, 9 << 16 | length, tag, 0) for tag, length in lengths]
    assert {words[2:] for words in retrieved} == {(7, 0)}
    assert {words[1] >> 16 for words in retrieved} == {15}
    assert {words[2:] for words in commands(controller)} == {(0, 0)}


def test_what_a_field_does_not_take_is_refused(target: Target, tmp_path: Path) -> None:
    _, kv = target.attach(module=module_of(target, tmp_path), block_size=SIZE)
    with pytest.raises(runtime.ArgumentFault, match="list has no argument or semantic field"):
        kv.list(generation=1)
    with pytest.raises(runtime.ArgumentFault, match=r"0 to 0xf fit its bits, CDW11\[19:16\]"):
        kv.retrieve([b"a"], target.module.empty(SIZE), reuse_class=16)
