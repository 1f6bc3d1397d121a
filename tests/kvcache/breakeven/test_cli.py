"""xiokv breakeven: what it prints, keeps and draws, and what it refuses."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.tool import TOOL
from xiokv.runtime.kvcache.breakeven.geometry_file import known

from .conftest import Tool

GIVEN = ("--fetch-gbps", "8", "--block-sizes", "128KiB,1MiB")
LLAMA = ("--model", "llama-3.1-8b")
SPEED = ("--prefill-tokens-per-s", "10000")


def told(tool: Tool, *arguments: Any) -> Any:
    done = tool(*arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_given_costs_by_hand(tool: Tool) -> None:
    asked = (*GIVEN, "--fetch-latency-us", "100", *LLAMA, *SPEED, "--contexts", "1Ki,100")
    document = told(tool, *asked)
    assert document["schema"] == "xiokv-breakeven/1"
    assert document["fetch"]["origin"] == "given"
    (model,) = document["models"]
    assert (model["model"], model["token_bytes"], model["state_bytes"]) == (
        "llama-3.1-8b",
        131072,
        0,
    )
    assert model["recompute"] == {"origin": "given", "tokens_per_s": 10000.0}
    assert [(row["context"], row["block_bytes"]) for row in model["rows"]] == [
        (100, 131072),
        (100, 1 << 20),
        (1024, 131072),
        (1024, 1 << 20),
    ]
    first = model["rows"][1]
    assert (first["kv_bytes"], first["blocks"]) == (100 * 131072, 13)  # 12.5 blocks
    assert first["tokens_per_block"] == 8
    assert first["fetch_us"] == pytest.approx(100 + 13 * (1 << 20) / 8e3)
    assert first["recompute_us"] == pytest.approx(10000)
    assert first["recompute_by_fetch"] == pytest.approx(10000 / first["fetch_us"])
    assert first["winner"] == "fetch"
    assert first["break_even_bytes_per_s"] == pytest.approx(13 * (1 << 20) / 9.9e-3)
    # A block of one token takes 16.4 us after 100 us of latency, where computing takes 100.
    assert model["break_even"][0] == {
        **{"block_bytes": 131072, "tokens": 2, "verdict": "fetch from tokens on"},
    }


def test_the_formula_is_told_with_all_that_goes_into_it(tool: Tool) -> None:
    document = told(tool, *GIVEN, *LLAMA, "--flops", "1e15", "--contexts", "1Ki")
    assert document["models"][0]["recompute"] == {
        "origin": "formula",
        "active_parameters": 6979321856,
        "active_parameters_origin": "model",
        "causal_flops": 524288,
        "flops": 1e15,
        "mfu": 0.5,
        "mfu_origin": "default",
    }
    flops = 2 * 6979321856 * 1024 + 524288 * 1024 * 1025 // 2
    row = document["models"][0]["rows"][0]
    assert row["recompute_us"] == pytest.approx(flops / 0.5e15 * 1e6)


def test_parameters_and_mfu_may_be_given(tool: Tool) -> None:
    asked = ("--flops", "1e15", "--mfu", "0.25", "--parameters", "8e9", "--contexts", "1")
    model = told(tool, *GIVEN, *LLAMA, *asked)["models"][0]
    assert model["recompute"]["active_parameters"] == 8_000_000_000
    assert model["recompute"]["active_parameters_origin"] == "given"
    assert model["recompute"]["mfu_origin"] == "given"
    assert model["rows"][0]["recompute_us"] == pytest.approx((16e9 + 524288) / 0.25e15 * 1e6)


def test_each_model_may_have_its_own_speed_and_flops(tool: Tool) -> None:
    asked = (
        *("--flops", "1e15", "--flops", "deepseek-v3=8e15"),
        *("--prefill-tokens-per-s", "qwen3-next-80b-a3b=50000", "--contexts", "1Ki"),
    )
    sides = {one["model"]: one["recompute"] for one in told(tool, *GIVEN, *asked)["models"]}
    assert sides["deepseek-v3"]["flops"] == 8e15
    assert sides["llama-3.1-8b"]["flops"] == 1e15
    assert sides["qwen3-next-80b-a3b"] == {"origin": "given", "tokens_per_s": 50000.0}


def test_by_default_there_are_all_models_and_contexts_from_1_to_128_ki(tool: Tool) -> None:
    document = told(tool, "--fetch-gbps", "8", "--flops", "1e15")
    assert [one["model"] for one in document["models"]] == [
        *("deepseek-v3", "llama-3.1-8b", "qwen3-next-80b-a3b"),
    ]
    for model in document["models"]:
        assert [row["context"] for row in model["rows"][::4]] == [1024 << n for n in range(8)]
        assert [row["block_bytes"] for row in model["rows"][:4]] == [4096, 16384, 131072, 1 << 20]


def test_a_model_with_short_contexts_has_those_that_it_has(tool: Tool, mine: Path) -> None:
    (model,) = told(tool, *GIVEN, "--geometry", mine, "--flops", "1e9")["models"]
    assert [row["context"] for row in model["rows"][::2]] == [1024, 2048, 4096]
    mine.write_text(mine.read_text().replace("context = 4096", "context = 100"))
    (model,) = told(tool, *GIVEN, "--geometry", mine, "--flops", "1e9")["models"]
    assert [row["context"] for row in model["rows"][::2]] == [100]


def test_states_are_kept_where_it_is_asked_for(tool: Tool) -> None:
    asked = (*GIVEN, "--model", "qwen3-next-80b-a3b", "--flops", "1e15", "--contexts", "1Ki,5000")
    model = told(tool, *asked, "--checkpoint-every", "4096")["models"][0]
    assert (model["state_bytes"], model["checkpoint_tokens"]) == (77_266_944, 4096)
    early, late = model["rows"][1], model["rows"][3]
    assert (early["reused_tokens"], early["blocks"], early["winner"]) == (0, 0, "recompute")
    assert (late["reused_tokens"], late["blocks"]) == (4096, 96 + 74)  # 96 MiB, and 73.7 MiB
    assert late["rest_us"] > 0
    assert told(tool, *asked)["models"][0]["checkpoint_tokens"] is None


def test_a_recorded_benchmark_is_told_with_its_machine(tool: Tool, h200: Path) -> None:
    document = told(tool, "--recorded", h200, *LLAMA, "--flops", "989e12")
    assert document["fetch"]["origin"] == "recorded"
    assert document["fetch"]["setting"]["device"] == "NVIDIA H200"
    assert document["fetch"]["file"] == str(h200)
    latencies = [cost["latency_origin"] for cost in document["fetch"]["costs"]]
    assert latencies == ["recorded"] * 4


def test_a_table_says_of_both_sides_where_they_are_from(tool: Tool, h200: Path) -> None:
    out = tool("--recorded", h200, "--place", "host", *LLAMA, "--flops", "989e12").out
    assert f"fetch: recorded in {h200} (the file does not say when), blocks into the host's" in out
    assert "device: NVIDIA H200, processor: Intel" in out
    assert "formula, not measured: 6,979,321,856 active parameters, 9.89e+14 FLOP/s (given)" in out
    assert "MFU 0.5 (default)" in out
    assert "fetch (recorded)" in out
    assert "recompute (formula)" in out
    assert "0 us (not recorded)" in out


def test_a_table_has_a_line_for_every_row(tool: Tool) -> None:
    out = tool(*GIVEN, *LLAMA, *SPEED, "--contexts", "1Ki,2Ki,4Ki").out
    lines = out.splitlines()
    heading = next(n for n, line in enumerate(lines) if line.startswith("context"))
    assert "fetch (given)" in lines[heading]
    assert [line.split()[0] for line in lines[heading + 1 :]] == [
        *("1,024", "1,024", "2,048", "2,048", "4,096", "4,096"),
    ]
    assert "  128 KiB blocks: fetch always" in out


def test_a_measured_run_can_be_kept_and_looked_at_again(tool: Tool, tmp_path: Path) -> None:
    options = ("--target", "host", "--queues", "2", "--depth", "64", "--runs", "3")
    document = told(tool, *options, "--block-sizes", "64KiB", *LLAMA, *SPEED)
    assert document["fetch"]["origin"] == "measured"
    assert document["fetch"]["setting"]["runs"] == 3
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    again = told(tool, "--recorded", path, *LLAMA, *SPEED)
    assert again["fetch"]["origin"] == "recorded"
    assert again["fetch"]["date"] == document["fetch"]["date"]
    first, second = (one["models"][0]["rows"][0]["fetch_us"] for one in (document, again))
    assert second == pytest.approx(first)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            (*GIVEN,),
            2,
            "what does a prefill of deepseek-v3, llama-3.1-8b, qwen3-next-80b-a3b cost?",
        ),
        ((*GIVEN, *SPEED), 2, "one number for 3 models; select one with --model, or give each"),
        ((*GIVEN, *LLAMA, *SPEED, "--mfu", "0.4"), 2, "leave --flops and --mfu out"),
        ((*GIVEN, *LLAMA, *SPEED, "--flops", "1e15"), 2, "leave --flops and --mfu out"),
        ((*GIVEN, *LLAMA, *SPEED, "--parameters", "1e9"), 2, "leave --flops and --parameters out"),
        ((*GIVEN, *LLAMA, "--flops", "fast"), 2, "--flops: 'fast' is no number above 0"),
        ((*GIVEN, *LLAMA, "--flops", "0"), 2, "--flops: '0' is no number above 0"),
        ((*GIVEN, *LLAMA, "--flops", "1e31"), 2, "--flops: '1e31' is no number above 0, or out of"),
        ((*GIVEN, *LLAMA, "--flops", "1", "--parameters", ".1"), 2, "less than one is none"),
        ((*GIVEN, *LLAMA, "--flops", "nan"), 2, "--flops: 'nan' is no number above 0"),
        ((*GIVEN, *LLAMA, "--flops", "1", "--flops", "2"), 2, "given twice for every model"),
        ((*GIVEN, *LLAMA, "--flops", "1", "--mfu", "1.5"), 2, "1.5 is more than all"),
        (
            (*GIVEN, *LLAMA, "--flops", "llama=1"),
            2,
            "'llama' is not selected; did you mean llama-3",
        ),
        ((*GIVEN, "--model", "deepseek", "--flops", "1"), 2, "did you mean deepseek-v3?"),
        (
            (*GIVEN, *LLAMA, *SPEED, "--contexts", "256Ki"),
            2,
            "llama-3.1-8b has contexts of up to 13",
        ),
        ((*GIVEN, *LLAMA, *SPEED, "--contexts", "1KiB"), 2, "'1KiB' is no number of tokens; such"),
        ((*GIVEN, *LLAMA, *SPEED, "--contexts", ""), 2, "'' is no number of tokens"),
        ((*GIVEN, *LLAMA, *SPEED, "--contexts", "0"), 2, "0 tokens: 1 to 4Mi are allowed"),
        (
            (*GIVEN, *LLAMA, *SPEED, "--checkpoint-every", "9"),
            2,
            "none of llama-3.1-8b has a recur",
        ),
        ((*GIVEN, *LLAMA, *SPEED, "--queues", "2"), 2, "--fetch-gbps measures nothing: leave --q"),
        ((*GIVEN, *LLAMA, *SPEED, "--place", "host"), 2, "--fetch-gbps is of no place"),
        (("--fetch-gbps", "-1", *LLAMA, *SPEED), 2, "--fetch-gbps: '-1' is no number above 0"),
        ((*GIVEN, *LLAMA, *SPEED, "--fetch-latency-us", "-1"), 2, "'-1' is no number of 0 or more"),
        ((*GIVEN, *LLAMA, *SPEED, "--fetch-latency-us", "nan"), 2, "'nan' is no number of 0 or m"),
        (("--fetch-gbps", "nan", *LLAMA, *SPEED), 2, "--fetch-gbps: 'nan' is no number above 0"),
        ((*GIVEN, *LLAMA, "--flops", "1", "--mfu", "nan"), 2, "--mfu: 'nan' is no number above"),
        ((*GIVEN, *LLAMA, "--prefill-tokens-per-s", "nan"), 2, "'nan' is no number above 0"),
        ((*GIVEN, *LLAMA, "--flops", "1", "--parameters", "nan"), 2, "'nan' is no number above"),
        ((*LLAMA, *SPEED, "--recorded", "-"), 2, "'-' is no file here; give a path"),
        ((*GIVEN, *SPEED, "--geometry", "-"), 2, "'-' is no file here; give a path"),
        ((*LLAMA, *SPEED, "--block-sizes", "1GiB"), 2, "a block of 1073741824 bytes: multiples"),
        ((*LLAMA, *SPEED, "--fetch-latency-us", "1"), 2, "goes with --fetch-gbps or --recorded"),
        ((*LLAMA, *SPEED, "--block-sizes", "4kB"), 2, "'4kB' is no size; such are 512, 4KiB"),
        ((*LLAMA, *SPEED, "--block-sizes", "64MiB"), 2, "from 512 bytes to 32MiB are allowed"),
        ((*LLAMA, *SPEED, "--block-sizes", "4098"), 2, "multiples of 4 from 512 bytes"),
        (
            (*LLAMA, *SPEED, "--target", "tpu"),
            2,
            "target 'tpu': this version of xiokv has a driver",
        ),
        ((*LLAMA, *SPEED, "--target", "host", "--place", "device"), 2, "end in its own memory"),
        ((*LLAMA, *SPEED, "--recorded", "/nowhere"), 2, "does not exist"),
        ((*GIVEN, *SPEED, "--geometry", "/nowhere"), 2, "does not exist"),
        ((*GIVEN, *LLAMA, *SPEED, "--plot", ""), 2, "an empty name is no folder"),
        ((*GIVEN, *LLAMA, *SPEED, "--kv-dtype", "int4"), 2, "'int4' is not one of"),
    ],
)
def test_what_makes_no_sense_is_refused(
    tool: Tool, arguments: tuple[str, ...], code: int, message: str
) -> None:
    refused = tool(*arguments)
    assert (refused.code, refused.out) == (code, "")
    assert message in refused.err.splitlines()[0]


def test_help_names_the_models_that_come_along(tool: Tool) -> None:
    said = " ".join(tool("--help").out.split())
    assert f"{', '.join(sorted(known())[:-1])} or {sorted(known())[-1]};" in said


def test_two_sources_of_a_fetch_are_refused(tool: Tool, h200: Path) -> None:
    refused = tool(*LLAMA, *SPEED, "--recorded", h200, "--fetch-gbps", "1")
    assert (refused.code, refused.out) == (2, "")
    assert "both say what a fetch costs: give one" in refused.err
    refused = tool(*LLAMA, *SPEED, "--recorded", h200, "--target", "host")
    assert refused.code == 2
    assert "--recorded measures nothing: leave --target out" in refused.err
    refused = tool(*LLAMA, *SPEED, "--recorded", h200, "--store", "memory")
    assert refused.code == 2
    assert "--recorded measures nothing: leave --store out" in refused.err


@pytest.mark.parametrize("store", ["redis://pool/namespace", ""])
def test_a_store_that_is_none_is_refused(tool: Tool, store: str) -> None:
    refused = tool(*LLAMA, *SPEED, "--target", "host", "--store", store)
    assert (refused.code, refused.out) == (2, "")
    assert f"store is '{store}'; allowed are: memory, rados://..." in refused.err


def test_broken_files_are_failures(tool: Tool, mine: Path, tmp_path: Path) -> None:
    broken = tmp_path / "run.json"
    broken.write_text("{", encoding="utf-8")
    refused = tool(*LLAMA, *SPEED, "--recorded", broken)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith(f"xiokv: {broken} ")
    mine.write_text("schema = 1\n", encoding="utf-8")
    refused = tool(*GIVEN, *SPEED, "--geometry", mine)
    assert (refused.code, refused.out) == (1, "")
    assert (
        f"{mine}: name, title, source, context, active_parameters, attention missing" in refused.err
    )


def test_a_latency_of_0_is_one_however_it_is_written(tool: Tool) -> None:
    asked = (*GIVEN, *LLAMA, *SPEED, "--contexts", "1Ki")
    for text in ("0", "0.00", "0e3"):
        assert told(tool, *asked, "--fetch-latency-us", text) == told(tool, *asked)


def test_files_may_come_through_a_pipe(h200: Path, mine: Path) -> None:
    command = '"$@" --recorded <(cat H200) --geometry <(cat MINE) --flops 1e9 --json'
    words = command.replace("H200", str(h200)).replace("MINE", str(mine))
    done = subprocess.run(
        ["bash", "-c", words, "bash", *TOOL, "breakeven"],
        **{"capture_output": True, "text": True, "check": False},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"/dev/fd/\d+", json.loads(done.stdout)["fetch"]["file"])


def test_a_broken_file_through_a_pipe_is_told_by_its_name(tool: Tool, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_text("{"), daemon=True)
    writer.start()
    refused = tool(*LLAMA, *SPEED, "--recorded", fifo)
    writer.join(10)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith(f"xiokv: {fifo} ends early at line 1")


def test_charts_leave_links_and_what_was_read(tool: Tool, tmp_path: Path, h200: Path) -> None:
    pytest.importorskip("matplotlib")
    real, folder = tmp_path / "real.svg", tmp_path / "charts"
    folder.mkdir()
    (folder / "bandwidth.svg").symlink_to(real)
    asked = (*LLAMA, "--flops", "989e12", "--plot", folder)
    assert tool("--recorded", h200, *asked).code == 0
    assert (folder / "bandwidth.svg").is_symlink()
    assert "<svg" in real.read_text(encoding="utf-8")
    real.write_bytes(h200.read_bytes())
    refused = tool("--recorded", real, *asked)
    assert refused.code == 2
    assert "--recorded is the same file" in refused.err
    assert real.read_bytes() == h200.read_bytes()


def test_charts_need_matplotlib_and_say_so_before_anything_is_measured(
    tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    refused = tool(*GIVEN, *LLAMA, *SPEED, "--plot", tmp_path / "charts")
    assert (refused.code, refused.out) == (5, "")
    assert refused.err == (
        "xiokv: charts need matplotlib, which is not here; install it:"
        " pip install 'matplotlib>=3.7'\n"
    )
    assert not (tmp_path / "charts").exists()


def test_charts_are_of_every_model_and_say_what_is_recorded_and_what_a_formula(
    tool: Tool, tmp_path: Path, h200: Path
) -> None:
    pytest.importorskip("matplotlib")
    for folder in ("one", "two"):
        drawn = tool("--recorded", h200, "--flops", "989e12", "--plot", tmp_path / folder)
        assert drawn.code == 0
    names = ["time-deepseek-v3", "time-llama-3.1-8b", "time-qwen3-next-80b-a3b", "bandwidth"]
    wrote = [f"wrote {tmp_path / 'two' / name}.svg" for name in names]
    assert drawn.err.splitlines() == wrote
    for name in names:
        text = (tmp_path / "one" / f"{name}.svg").read_text(encoding="utf-8")
        assert text == (tmp_path / "two" / f"{name}.svg").read_text(encoding="utf-8")
        assert "NVIDIA H200" in text
        assert "(recorded)" in text
        assert "(formula" in text


def test_charts_are_drawn_where_nothing_can_be_fetched(tool: Tool, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    asked = ("--model", "qwen3-next-80b-a3b", *SPEED, "--checkpoint-every", "4096")
    drawn = tool(*GIVEN, *asked, "--contexts", "1Ki", "--plot", tmp_path / "charts")
    assert drawn.code == 0
    assert len(list((tmp_path / "charts").iterdir())) == 2
