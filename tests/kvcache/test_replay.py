"""What a replay is made of: plans by a recipe, bytes by a seed, a bounded store, a check."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xiokv.generated.nvme_kv import encode
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.kvcache.documents import Range
from xiokv.runtime.kvcache.execution import Executor
from xiokv.runtime.kvcache.keyspace import Keyspace
from xiokv.runtime.kvcache.memory_storage import MemoryStorage
from xiokv.runtime.kvcache.plan import DonorSpan, FreshSpan, Plan
from xiokv.runtime.kvcache.replay.buffers import Buffers
from xiokv.runtime.kvcache.replay.checking import check
from xiokv.runtime.kvcache.replay.contents import are_known, content
from xiokv.runtime.kvcache.replay.payloads import Payloads
from xiokv.runtime.kvcache.replay.reading import plan_files
from xiokv.runtime.kvcache.replay.shapes import SHAPES, Recipe, Shape, generate
from xiokv.runtime.kvcache.replay.shelf import Shelf
from xiokv.runtime.kvcache.replay.xio_keys import XioKeys, packed
from xiokv.runtime.verify.stamps import POISON

SIZES = (4096, 1001)
ROW = 4096 + 1004


def plan_of(*spans: tuple[str, int, int], request: str = "r", **more: Any) -> Plan:
    """Return a plan of donor spans: donor, first block, number of blocks, of 16 tokens."""
    found, end = [], 0
    for donor, first, rows in spans:
        source = Range(first * 16, (first + rows) * 16)
        target = Range(end, end + rows * 16)
        found.append(DonorSpan(target=target, donor=donor, source=source, **more))
        end += rows * 16
    return Plan(request=request, tokens=end, block_tokens=16, spans=tuple(found))


def stocked(room: int = 1 << 30) -> tuple[MemoryStorage, Payloads, Shelf]:
    storage = MemoryStorage(Keyspace("t"))
    payloads = Payloads(7, SIZES)
    return storage, payloads, Shelf(storage, payloads, room)


# Plans


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("block_tokens", [1, 16, 64, 4096])
def test_generated_plans_are_plans(shape: Shape, block_tokens: int) -> None:
    plans = list(generate(Recipe(40, 3, shape, block_tokens)))
    assert len({plan.request for plan in plans}) == 40
    for plan in plans:
        plan.check()
        assert Plan.from_json(plan.canonical) == plan
        assert are_known(plan)


def test_a_recipe_gives_the_same_plans_each_time_and_a_seed_others() -> None:
    first = [plan.canonical for plan in generate(Recipe(50, 1))]
    assert first == [plan.canonical for plan in generate(Recipe(50, 1))]
    assert first != [plan.canonical for plan in generate(Recipe(50, 2))]


def test_shapes_are_what_they_are_called() -> None:
    def donors(shape: Shape) -> list[list[str]]:
        plans = generate(Recipe(200, 1, shape))
        return [[span.donor.split("-")[0] for _, span in plan.donor_spans] for plan in plans]

    assert {name for names in donors("wrapper") for name in names} == {"wrapper", "wrapped"}
    assert {name for names in donors("tool") for name in names} == {"agent", "tool", "result"}
    assert {name for names in donors("rag") for name in names} == {"instruction", "passage"}
    assert all(len(names) >= 4 for names in donors("rag"))
    mixed = {plan.request.split("-")[0] for plan in generate(Recipe(50))}
    assert mixed == {"wrapper", "tool", "rag"}


def test_the_same_document_is_in_different_wrappers() -> None:
    behind: dict[str, set[str]] = {}
    for plan in generate(Recipe(300, 1, "wrapper")):
        names = [span.donor for _, span in plan.donor_spans]
        if names[0].startswith("wrapper-"):
            behind.setdefault(names[1], set()).add(names[0])
    assert max(map(len, behind.values())) >= 4


# Bytes


def test_every_byte_belongs_to_one_place() -> None:
    payloads = Payloads(7, SIZES)
    whole = payloads.of("a", Range(0, 300)).reshape(300, ROW)
    blocks = {row[:4096].tobytes() for row in whole} | {row[4096:5097].tobytes() for row in whole}
    assert len(blocks) == 600
    assert not whole[:, 5097:].any()
    # A part is a part of the whole, and so is what is compared later.
    assert (payloads.of("a", Range(100, 103)).reshape(3, ROW) == whole[100:103]).all()
    for shard, place in ((0, slice(0, 4096)), (1, slice(4096, 5097))):
        for first, some in payloads.blocks("a", shard, Range(70, 290)):
            assert (some == whole[first : first + len(some), place]).all()
    assert not (payloads.of("b", Range(0, 1)) == whole[0]).all()
    assert not (Payloads(8, SIZES).of("a", Range(0, 1)) == whole[0]).all()


def executed(plan: Plan) -> tuple[Any, Payloads]:
    storage, payloads, shelf = stocked()
    shelf.prepare(plan)
    return Executor(storage, allocate=Buffers().allocate).execute(plan), payloads


def test_right_bytes_are_all_counted() -> None:
    plan = plan_of(("a", 3, 5), ("b", 0, 2))
    report, payloads = executed(plan)
    checked = check(plan, report, payloads)
    assert (checked.blocks, checked.bytes, checked.wrong) == (14, 7 * sum(SIZES), None)


@pytest.mark.parametrize("byte", [0, 15, 16, 4095])
def test_one_wrong_bit_is_found_wherever_it_is(byte: int) -> None:
    plan = plan_of(("a", 3, 5), ("b", 0, 2))
    report, payloads = executed(plan)
    report.buffer[report.spans[0].offsets[2, 0] + byte] ^= 0x10
    wrong = check(plan, report, payloads).wrong
    assert wrong is not None
    assert (wrong.donor, wrong.row, wrong.shard, wrong.offset) == ("a", 5, 0, byte)
    assert "which is no stamp" in wrong.meaning


def test_a_block_in_anothers_place_is_told_as_such() -> None:
    plan = plan_of(("a", 3, 5))
    report, payloads = executed(plan)
    first, second = report.spans[0].offsets[:2, 0]
    report.buffer[second : second + 4096] = report.buffer[first : first + 4096].copy()
    wrong = check(plan, report, payloads).wrong
    assert wrong is not None
    assert (wrong.row, wrong.shard) == (4, 0)
    assert "the stamp of another place: key" in str(wrong)


def test_what_was_never_written_is_told_as_such() -> None:
    plan = plan_of(("a", 3, 5))
    report, payloads = executed(plan)
    start = report.spans[0].offsets[4, 1]
    report.buffer[start : start + 1001] = POISON
    wrong = check(plan, report, payloads).wrong
    assert wrong is not None
    assert (wrong.row, wrong.shard, wrong.offset) == (7, 1, 0)
    assert wrong.meaning == "nothing was written there"


def test_a_buffer_holds_nothing_of_its_use_before() -> None:
    buffers = Buffers()
    first = buffers.allocate(1000)
    first[:] = 1
    second = buffers.allocate(900)
    assert np.shares_memory(first, second)
    assert (second == POISON).all()
    assert len(buffers.allocate(100_000)) == 100_000
    assert len(buffers.allocate(0)) == 0


# The store


def test_what_is_there_is_not_published_again() -> None:
    storage, _, shelf = stocked()
    shelf.prepare(plan_of(("a", 2, 4)))
    shelf.prepare(plan_of(("a", 3, 2)))
    assert shelf.published_bytes == 4 * ROW
    assert storage.resolve("a").manifest.source == Range(32, 96)


def test_a_donor_grows_where_a_later_plan_needs_more() -> None:
    storage, payloads, shelf = stocked()
    for plan in (plan_of(("a", 2, 4)), plan_of(("a", 8, 1), ("a", 0, 1))):
        shelf.prepare(plan)
        report = Executor(storage).execute(plan)
        assert report.fresh == []
        assert check(plan, report, payloads).wrong is None
    manifest = storage.resolve("a").manifest
    assert (manifest.source, manifest.generation) == (Range(0, 144), 2)


def test_a_plan_that_names_a_generation_gets_it() -> None:
    storage, _, shelf = stocked()
    for generation in (3, 9, 4):
        plan = plan_of(("a", 0, 2), generation=generation)
        shelf.prepare(plan)
        assert Executor(storage).execute(plan).fresh == []


def test_the_store_is_bounded_and_what_was_used_last_stays() -> None:
    storage, _, shelf = stocked(room=10 * ROW)
    for name in "abcabda":
        shelf.prepare(plan_of((name, 0, 4)))
        assert len(storage.values) <= 2 * 10
    assert sorted({donor for donor, _ in storage._donors}) == ["a", "d"]
    # One plan that needs more than there is room for gets it.
    shelf.prepare(plan_of(("e", 0, 20), ("f", 0, 4)))
    assert len(storage.values) == 2 * 24
    shelf.clear()
    assert storage.values == {}


def test_another_replay_goes_on_where_one_was_cut_off() -> None:
    storage, payloads, shelf = stocked()
    shelf.prepare(plan_of(("a", 0, 4)))
    again = Shelf(storage, payloads, 1 << 30)
    plan = plan_of(("a", 1, 5))
    again.prepare(plan)
    assert Executor(storage).execute(plan).fresh == []


# Files


def test_files_hold_one_plan_or_one_a_line(tmp_path: Path) -> None:
    plans = list(generate(Recipe(3)))
    lines = tmp_path / "lines.jsonl"
    lines.write_bytes(b"\n".join(plan.canonical for plan in plans) + b"\n\n")
    single = tmp_path / "single.json"
    single.write_bytes(plans[0].canonical)
    spread = tmp_path / "spread.json"
    spread.write_bytes(plans[1].canonical.replace(b",", b",\n  "))
    with plan_files([str(lines), str(single), str(spread)]) as files:
        assert list(files.plans()) == [*plans, plans[0], plans[1]]
        assert len(list(files.plans())) == 5


def test_standard_input_can_be_gone_through_again(monkeypatch: pytest.MonkeyPatch) -> None:
    plans = list(generate(Recipe(3)))
    given = io.TextIOWrapper(io.BytesIO(b"\n".join(plan.canonical for plan in plans)))
    monkeypatch.setattr(sys, "stdin", given)
    with plan_files(["-"]) as files:
        assert list(files.plans()) == list(files.plans()) == plans


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no plan; give a plan in JSON, or one a line, or make some with --generate"),
        ("{", "xiokv-plan: "),
        ("[1]", "xiokv-plan: "),
        ('{"schema": "xiokv-plan/2.0"}', "is of another major version"),
        ('{"schema": "xiokv-plan/1.0"}', "xiokv-plan: "),
    ],
)
def test_what_is_no_plan_is_told_by_its_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "plans"
    path.write_text(text)
    with plan_files([str(path)]) as files, pytest.raises(RuntimeFault) as fault:
        list(files.plans())
    assert str(path) in str(fault.value)
    assert said in str(fault.value)


def test_the_line_of_a_bad_plan_is_told(tmp_path: Path) -> None:
    (plan,) = generate(Recipe(1))
    path = tmp_path / "plans"
    path.write_bytes(plan.canonical + b"\n\n" + plan.canonical.replace(b'"tokens"', b'"taken"'))
    with plan_files([str(path)]) as files, pytest.raises(RuntimeFault, match=r"plans:3: "):
        list(files.plans())


# Keys for rocm-xio


def test_packed_keys_are_four_words_and_a_length() -> None:
    keys = [bytes(range(16)), b"abc"]
    words = struct.unpack("<10I", packed(keys))
    assert words[:5] == (0x03020100, 0x07060504, 0x0B0A0908, 0x0F0E0D0C, 16)
    assert words[5:] == (0x00636261, 0, 0, 0, 3)
    # As a command has them: CDW2, CDW3, CDW14 and CDW15.
    entry = struct.unpack("<16I", encode("retrieve", nsid=1, key=keys[0], value_size=4096))
    assert words[:4] == (entry[2], entry[3], entry[14], entry[15])


def emitted(tmp_path: Path, device: str | None = None) -> tuple[Any, list[bytes], bytes]:
    report, _ = executed(plan_of(("a", 0, 300)))
    keys = XioKeys()
    keys.add(report)
    keys.add(report)
    written = keys.write(tmp_path / "a file", device)
    return written, list(keys.keys), written.arguments.read_bytes()


def test_keys_are_those_of_the_blocks_each_once_and_of_one_size(tmp_path: Path) -> None:
    written, keys, _ = emitted(tmp_path)
    storage, _, shelf = stocked()
    shelf.prepare(plan_of(("a", 0, 300)))
    blocks = storage.resolve("a").manifest.blocks
    assert [key.hex() for key in keys] == [block.key for block in blocks[::2]]
    assert (written.keys, written.size) == (300, 4096)
    assert written.packed.read_bytes() == packed(keys)


def test_the_command_line_passes_the_very_keys(tmp_path: Path) -> None:
    written, keys, _ = emitted(tmp_path, "/dev/ng3n2")
    folder = tmp_path / "bin"
    folder.mkdir()
    tester = folder / "xio-tester"
    tester.write_text('#!/bin/sh\nprintf "%s\\0" "$@"\n')
    tester.chmod(0o755)
    done = subprocess.run(
        written.command(),
        shell=True,
        capture_output=True,
        check=True,
        env={"PATH": f"{folder}:{os.environ['PATH']}"},
    )
    given = done.stdout.split(b"\0")[:-1]
    usable = [key for key in keys if 0 not in key and key[0] not in b"-[{"]
    assert given[given.index(b"--keys") + 1 :] == usable
    assert 200 < len(usable) == written.usable < 300
    options = [word.decode() for word in given[: given.index(b"--keys")]]
    assert options[:5] == ["nvme-ep", "--controller", "/dev/nvme3", "--namespace", "2"]
    pairs = dict(zip(options[5::2], options[6::2], strict=True))
    assert pairs == {
        "--kv-op": "retrieve",
        "--value-size": "4096",
        "--batch-size": str(written.usable),
        "--data-buffer-size": str(4096 * written.usable),
        "--read-io": "1",
    }


def test_no_key_is_a_fault_and_no_file(tmp_path: Path) -> None:
    with pytest.raises(RuntimeFault, match="no block was asked for"):
        XioKeys().write(tmp_path / "keys")
    assert list(tmp_path.iterdir()) == []


def test_contents_of_real_tokens_are_recognised() -> None:
    (plan,) = generate(Recipe(1))
    assert are_known(plan)
    own = Plan(
        request="x",
        tokens=16,
        block_tokens=16,
        spans=(FreshSpan(target=Range(0, 16)),),
        contents=(content("y", 0).hex(),),
    )
    assert not are_known(own)
