"""xiokv replay, from its arguments to its exit code, on the host."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.tool import TOOL, Done, Tool, in_this_process
from xiokv.runtime.kvcache import offering, verification
from xiokv.runtime.kvcache.materialiser import Accept
from xiokv.runtime.kvcache.memory_storage import MemoryStorage
from xiokv.runtime.kvcache.plan import Plan
from xiokv.runtime.kvcache.replay import disturbances
from xiokv.runtime.kvcache.replay.disturbances import Disturbances
from xiokv.runtime.kvcache.states import BlockState

HOST = ("--target", "host", "--queues", "2")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Tool:
    """Return what runs the tool in this process."""
    return in_this_process(capsys, "replay")


def only(monkeypatch: pytest.MonkeyPatch, *kinds: str) -> None:
    """Let each plan meet one of some faults."""
    chosen = {name: disturbances._KINDS[name] for name in kinds}
    monkeypatch.setattr(disturbances, "_KINDS", chosen)
    monkeypatch.setattr(disturbances, "SHARE", 1.0)


# What it says


def test_each_size_is_replayed_and_shown_beside_the_others(run: Tool) -> None:
    done = run("--generate", 6, *HOST, "--block-bytes", "4KiB,10001")
    assert done.code == 0
    assert "blocks of 4 KiB" in done.out
    assert "blocks of 10001 B" in done.out
    assert done.out.count("all right") == 2
    for name in ("resolve", "decide", "retrieve", "verify", "publish", "compare"):
        assert done.out.count(f"\n{name} seconds") == 2
    assert done.out.splitlines()[-3].split()[:3] == ["blocks", "fetched", "IOPS"]


def test_json_holds_machine_setting_and_metrics(run: Tool) -> None:
    done = run("--generate", 8, *HOST, "--block-bytes", "4KiB", "--shape", "rag", "--json")
    values = done.values
    assert values["machine"]["cores"] >= 1
    assert values["setting"]["target"] == "host"
    (one,) = values["runs"]
    metrics = one["metrics"]
    assert one["ok"] is True
    assert one["checked_bytes"] == metrics["materialised_bytes"] == metrics["fetched_bytes"] > 0
    assert metrics["materialised_hit_rate"] == metrics["candidate_hit_rate"] > 0.8
    assert 0 < metrics["exact_hit_rate"] < metrics["candidate_hit_rate"]
    # A Retrieve a block; neither heads nor manifests are among them.
    assert metrics["commands"] == one["checked_blocks"]


def test_metrics_are_a_line_a_span_and_a_line_a_run(run: Tool, tmp_path: Path) -> None:
    path = tmp_path / "metrics"
    done = run("--generate", 5, *HOST, "--block-bytes", "512,4KiB", "--metrics", path, "--json")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert {line["schema"] for line in lines} == {"xiokv-metrics/1.0"}
    runs = [line for line in lines if line["kind"] == "run"]
    assert [line["block_bytes"] for line in runs] == [512, 4096]
    for total, shown in zip(runs, done.values["runs"], strict=True):
        spans = [
            line
            for line in lines
            if line["kind"] == "span" and line["block_bytes"] == total["block_bytes"]
        ]
        assert len(spans) == total["spans"]
        for name in ("fetched_bytes", "materialised_blocks", "commands", "tokens"):
            assert sum(span[name] for span in spans) == total[name] == shown["metrics"][name]


# Plans


@pytest.mark.parametrize("storage", ["nvme-kv", "memory"])
def test_saved_plans_are_replayed_as_those_that_were_made(
    run: Tool, tmp_path: Path, storage: str
) -> None:
    def counted(done: Done) -> dict[str, Any]:
        metrics = done.values["runs"][0]["metrics"]
        timed = ("retrieve_latency_seconds", "bytes_per_second", "iops", "seconds")
        return {name: value for name, value in metrics.items() if name not in timed}

    where = HOST if storage == "nvme-kv" else ("--storage", "memory")
    options = (*where, "--block-bytes", "4KiB", "--json")
    path = tmp_path / "plans.jsonl"
    made = run("--generate", 10, "--save", path, *options)
    assert (made.code, len(path.read_bytes().splitlines())) == (0, 10)
    assert counted(run(path, *options)) == counted(made)


def test_plans_come_from_standard_input(run: Tool, tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "plans.jsonl"
    run("--generate", 4, "--save", path, "--storage", "memory", "--block-bytes", "64")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    done = run("-", "--storage", "memory", "--block-bytes", "64,128", "--json")
    assert [one["metrics"]["plans"] for one in done.values["runs"]] == [4, 4]


def test_a_plan_of_another_store_is_replayed_without_its_keys_and_contents(
    run: Tool, tmp_path: Path
) -> None:
    plan = {
        "schema": "xiokv-plan/1.0",
        "request": "of a real planner",
        "tokens": 100,
        "block_tokens": 16,
        "contents": ["ab" * 32] * 6,
        "spans": [
            {"kind": "fresh", "target": [0, 32]},
            {
                "kind": "donor",
                "target": [32, 96],
                "donor": "d",
                "source": [4096, 4160],
                "generation": 5,
                "keys": ["0f" * 16] * 8,
            },
            {"kind": "fresh", "target": [96, 100]},
        ],
    }
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan, indent=2))
    done = run(path, *HOST, "--block-bytes", "4KiB", "--json")
    (one,) = done.values["runs"]
    assert (one["without_contents"], one["without_keys"], one["checked_blocks"]) == (1, 1, 8)
    assert one["metrics"]["exact_hit_rate"] is None
    assert one["metrics"]["materialised_hit_rate"] == 4 / 6


# Faults


@pytest.mark.parametrize("checksums", ["now", "later"])
def test_under_faults_only_right_bytes_count(run: Tool, checksums: str) -> None:
    options = ("--faults", "--checksums", checksums, "--block-bytes", "4KiB", "--json")
    done = run("--generate", 40, *HOST, *options)
    (one,) = done.values["runs"]
    assert (done.code, one["ok"], one["wrong"]) == (0, True, None)
    assert sum(one["faults"].values()) == 40
    assert len(one["faults"]) >= 8
    metrics = one["metrics"]
    assert metrics["materialised_blocks"] < metrics["candidate_blocks"]
    assert one["checked_bytes"] == metrics["materialised_bytes"] > 0


@pytest.mark.parametrize(
    ("kind", "states", "cause"),
    [
        ("missing", {"MISSING"}, "block"),
        ("truncated", {"WRONG_SIZE"}, "block"),
        ("lengthened", {"WRONG_SIZE"}, "block"),
        ("flipped", {"CORRUPT"}, "block"),
        ("false size", {"WRONG_SIZE"}, "block"),
        ("refused", {"FAILED"}, "block"),
        ("dropped", {"TIMEOUT"}, "block"),
        ("overdue", {"TIMEOUT"}, "block"),
        ("lease expired", {"EXPIRED"}, "lease"),
        ("new generation", set(), "generation"),
        ("late", set(), None),
        ("out of order", set(), None),
    ],
)
def test_each_fault_is_met_and_told(
    run: Tool, monkeypatch: pytest.MonkeyPatch, kind: str, states: set[str], cause: str | None
) -> None:
    only(monkeypatch, kind)
    options = (*HOST, "--block-bytes", "4KiB", "--shape", "rag", "--faults", "--json")
    done = run("--generate", 3, *options)
    (one,) = done.values["runs"]
    assert (done.code, one["faults"]) == (0, {kind: 3})
    assert states <= set(one["metrics"]["states"])
    assert set(one["metrics"]["causes"]) >= {cause or "none"}
    if cause is None:
        assert set(one["metrics"]["causes"]) == {"none"}
    assert sum(one["failures"].values()) == one["metrics"]["states"].get("FAILED", 0)


def test_failed_commands_are_told_by_their_statuses(
    run: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, "refused")
    options = (*HOST, "--block-bytes", "4KiB", "--shape", "rag", "--faults")
    (one,) = run("--generate", 3, *options, "--json").values["runs"]
    found = sorted(one["failures"].items(), key=lambda pair: -pair[1])
    assert found
    assert all(re.fullmatch(r"[A-Z_]+ \(SCT \dh, SC ..h, DNR \d\)", name) for name, _ in found)
    told = ", ".join(f"{count:,} {name}" for name, count in found)
    assert f"\nfailed commands        {told}\n" in run("--generate", 3, *options).out
    assert "failed commands" not in run("--generate", 3, *HOST, "--block-bytes", "4KiB").out


@pytest.mark.parametrize("kind", ["stalled", "died"])
def test_a_controller_that_stops_in_mid_plan_costs_blocks_and_nothing_else(
    run: Tool, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    only(monkeypatch, kind)
    monkeypatch.setattr(disturbances, "_SOON", 1e-6)
    options = (*HOST, "--block-bytes", "128KiB", "--shape", "rag", "--faults", "--json")
    done = run("--generate", 3, *options)
    (one,) = done.values["runs"]
    assert (done.code, one["faults"]) == (0, {kind: 3})
    assert one["metrics"]["states"]["TIMEOUT"] > 0


def test_wrong_bytes_that_count_are_told_and_fail(
    run: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trusting(states: Any, *_: object) -> Any:
        return np.where(states == BlockState.LANDED, BlockState.VERIFIED, states)

    only(monkeypatch, "flipped")
    monkeypatch.setattr(verification, "check_landed", trusting)
    done = run("--generate", 5, *HOST, "--block-bytes", "4KiB", "--faults", "--json")
    assert done.code == 1
    said = r"xiokv: wrong bytes count as materialised: request '\S+', span \d+: block \d+ of donor"
    assert re.match(said, done.err)
    (one,) = done.values["runs"]
    assert one["ok"] is False
    assert one["wrong"] in done.err


def test_without_checksums_a_flipped_bit_is_found_all_the_same(
    run: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, "flipped")
    options = (*HOST, "--block-bytes", "4KiB,16KiB", "--faults", "--checksums", "never")
    done = run("--generate", 5, *options)
    assert done.code == 1
    assert "wrong bytes count as materialised" in done.err
    assert "checksums were not compared: see --checksums" in done.err
    assert "WRONG" in done.out
    assert "blocks of 16 KiB" not in done.out


def test_a_store_that_mixes_blocks_up_is_found_though_its_checksums_agree(
    run: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = MemoryStorage.publish

    def mixed_up(self: MemoryStorage, offer: Any, payloads: Any) -> Any:
        return publish(
            self, offer, np.ascontiguousarray(payloads.reshape(-1, 64)[::-1]).reshape(-1)
        )

    monkeypatch.setattr(MemoryStorage, "publish", mixed_up)
    done = run("--generate", 3, "--storage", "memory", "--block-bytes", "64")
    assert done.code == 1
    assert "the stamp of another place: key" in done.err


# Declined spans


def test_declined_spans_are_not_asked_for_by_the_controllers_word(run: Tool) -> None:
    options = (*HOST, "--block-bytes", "4KiB", "--decline", "0.4", "--json")
    done = run("--generate", 20, *options)
    (one,) = done.values["runs"]
    metrics = one["metrics"]
    assert done.code == 0
    assert one["declined_spans"] == metrics["causes"]["declined"]
    assert 0.2 < one["declined_spans"] / metrics["donor_spans"] < 0.6
    assert one["declined_retrieves"] == 0
    assert metrics["avoided_bytes"] > 0
    offered = metrics["avoided_bytes"] + metrics["asked_bytes"]
    assert offered == metrics["offered_blocks"] * 2 * 4096


def test_a_declined_span_that_is_asked_for_fails(
    run: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = offering.Offering._decided
    monkeypatch.setattr(
        offering.Offering, "_decided", lambda self, offer: taken(self, offer) and Accept()
    )
    done = run("--generate", 5, *HOST, "--block-bytes", "4KiB", "--decline", "1")
    assert done.code == 1
    assert "Retrieve commands were sent for blocks of spans that the backend declined" in done.err


def test_where_there_is_no_trace_nothing_is_said_of_it(run: Tool) -> None:
    options = ("--storage", "memory", "--block-bytes", "64", "--decline", "0.5")
    assert "not traced" in run("--generate", 5, *options).out


# Keys


def test_keys_are_written_and_the_command_line_is_told(run: Tool, tmp_path: Path) -> None:
    path = tmp_path / "keys"
    options = (*HOST, "--block-bytes", "4KiB", "--emit-xio-keys", path)
    done = run("--generate", 3, *options)
    assert done.code == 0
    assert path.stat().st_size % 20 == 0
    assert (tmp_path / "keys.args").read_bytes().endswith(b"\0")
    assert "xio-tester nvme-ep --controller /dev/nvme0" in done.err
    assert done.err.index("--kv-op store") < done.err.index("--kv-op retrieve")


# What does not go


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "give files of plans, or --generate N, and not both"),
        (("plan", "--generate", 1), 2, "give files of plans, or --generate N, and not both"),
        (("plan", "--save", "x"), 2, "--save writes plans that are made: it needs --generate"),
        (("--generate", 1, "--keep"), 2, "device or in a pool: it needs --device or --store"),
        (("--generate", 0), 2, "Invalid value for '--generate'"),
        (("--generate", 1, "--decline", 1.5), 2, "Invalid value for '--decline'"),
        (("--generate", 1, "--shape", "round"), 2, "Invalid value for '--shape'"),
        (("--generate", 1, "--block-bytes", "0"), 2, "0 is too small; 1 to 32MiB is allowed"),
        (("--generate", 1, "--block-bytes", "33MiB"), 2, "33MiB is too large; 1 to 32MiB"),
        (("--generate", 1, "--store-bytes", "1KiB"), 2, "1KiB is too small"),
        (("--generate", 1, "--storage", "memory", "--faults"), 2, "leave --faults out"),
        (("--generate", 1, "--device", "/dev/none", "--faults"), 2, "leave --faults out"),
        (("--generate", 1, "--storage", "memory", "--target", "host"), 2, "neither a target nor"),
        (("--generate", 1, "--device", "/dev/none"), 5, "/dev/none"),
        (("nowhere.json", "--storage", "memory"), 2, "File 'nowhere.json' does not exist."),
    ],
)
def test_what_does_not_go_is_told(
    run: Tool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[object, ...],
    code: int,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert said in done.err
    assert (done.code, done.out) == (code, "")
    assert list(tmp_path.iterdir()) == []


def test_no_fault_is_drawn_where_none_is_asked_for(
    run: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Disturbances, "before", lambda self, plan: pytest.fail("a fault"))
    assert run("--generate", 2, *HOST, "--block-bytes", "64").code == 0


@pytest.mark.slow
def test_ten_thousand_spans_take_no_more_memory_than_a_thousand() -> None:
    options = ("--storage", "memory", "--block-bytes", "4KiB", "--store-bytes", "8MiB", "--json")
    peaks = []
    for count in (130, 1300):
        # In a process of its own: the peak is of all that it ever did.
        done = subprocess.run(
            [*TOOL, "replay", "--generate", str(count), *options], capture_output=True, check=True
        )
        (one,) = json.loads(done.stdout)["runs"]
        peaks.append(one["peak_rss_bytes"])
    assert one["metrics"]["spans"] > 10_000
    assert one["checked_bytes"] > 300 << 20
    assert peaks[1] - peaks[0] < 32 << 20


def test_plans_are_read_one_at_a_time(run: Tool, tmp_path: Path) -> None:
    (first,) = _saved(run, tmp_path)
    bad = first.replace(b'"tokens"', b'"taken"')
    path = tmp_path / "bad.jsonl"
    path.write_bytes(first + b"\n" + bad)
    done = run(path, "--storage", "memory", "--block-bytes", "64")
    assert done.code == 1
    assert done.err.startswith(f"xiokv: {path}:2: xiokv-plan: ")


def _saved(run: Tool, folder: Path) -> list[bytes]:
    path = folder / "saved"
    run("--generate", 1, "--save", path, "--storage", "memory", "--block-bytes", "64")
    lines = path.read_bytes().splitlines()
    assert [Plan.from_json(line).request for line in lines]
    return lines
