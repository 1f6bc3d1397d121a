"""Files of xiokv replay: what it writes is whole or as it was, and what it reads stays."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.tool import TOOL, Tool, in_this_process

#: In a process of its own.
REPLAY = (*TOOL, "replay")

MEMORY = ("--storage", "memory", "--block-bytes", "64")
MAKE = ("--generate", "2", *MEMORY)
OUTPUTS = ("--save", "--metrics", "--emit-xio-keys")
OLD = "what was there\n"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Tool:
    """Return what runs the tool in this process."""
    return in_this_process(capsys, "replay")


@pytest.fixture
def plans(run: Tool, tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    assert run(*MAKE, "--save", path).code == 0
    return path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the tool as TOOL in a shell command."""
    return subprocess.run(
        ["bash", "-c", command.replace("TOOL", '"$@"'), "bash", *REPLAY],
        **{"cwd": folder, "capture_output": True, "text": True, "check": False, "timeout": 60},
    )


# Where it writes


@pytest.mark.parametrize("option", OUTPUTS)
def test_a_symbolic_link_stays_one(run: Tool, tmp_path: Path, option: str) -> None:
    (tmp_path / "folder").mkdir()
    real, link = tmp_path / "folder" / "real", tmp_path / "link"
    for there in (True, False):
        if there:
            real.write_text(OLD)
            real.chmod(0o640)
            link.symlink_to("folder/real")
        else:
            real.unlink()
        assert run(*MAKE, option, link).code == 0
        assert link.is_symlink()
        assert real.read_bytes() not in (b"", OLD.encode())
        if there:
            assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert names(tmp_path / "folder") == {"real"}


@pytest.mark.parametrize("option", OUTPUTS)
def test_a_fifo_stays_one_and_is_written_to(run: Tool, tmp_path: Path, option: str) -> None:
    fifo, plain = tmp_path / "fifo", tmp_path / "plain"
    os.mkfifo(fifo)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(fifo.read_bytes()), daemon=True)
    reader.start()
    assert run(*MAKE, option, fifo).code == 0
    reader.join(10)
    assert run(*MAKE, option, plain).code == 0
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert len(got) == 1
    if option == "--metrics":  # times differ
        assert got[0].count(b"\n") == plain.read_bytes().count(b"\n") > 2
    else:
        assert got[0] == plain.read_bytes()
    assert "fifo.args" not in names(tmp_path)


def test_devices_and_standard_output_are_written_to(tmp_path: Path) -> None:
    words = " ".join(MAKE)
    done = shell(f"TOOL {words} --save /dev/null --metrics /dev/null", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    done = shell(f"TOOL {words} --save /dev/stdout > both; tail -n +3 both", tmp_path)
    assert (tmp_path / "both").read_text().count("xiokv-plan/1.0") == 2
    assert "all right" in done.stdout


@pytest.mark.parametrize("option", OUTPUTS)
def test_a_dash_is_refused(
    run: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*MAKE, option, "-")
    assert (done.code, done.out) == (2, "")
    assert "'-' is no file here; give a path" in done.err
    assert names(tmp_path) == set()


# What it keeps


@pytest.mark.parametrize("option", OUTPUTS[1:])
@pytest.mark.parametrize("how", ["same", "dots", "symbolic", "hard", "stdin"])
def test_an_output_that_is_the_input_is_refused(plans: Path, option: str, how: str) -> None:
    before, folder = plans.read_bytes(), plans.parent
    (folder / "d").mkdir()
    (folder / "symbolic").symlink_to(plans)
    (folder / "hard").hardlink_to(plans)
    other = {"same": "in.jsonl", "dots": "d/../in.jsonl"}.get(how, how)
    source = "- < in.jsonl" if how == "stdin" else "in.jsonl"
    other = "in.jsonl" if how == "stdin" else other
    done = shell(f"TOOL {source} {' '.join(MEMORY)} {option} {other}", folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is the same file; give each output one of its own" in done.stderr
    assert plans.read_bytes() == before


def test_the_second_file_of_keys_is_no_input_either(run: Tool, plans: Path) -> None:
    named = plans.rename(plans.with_name("k.args"))
    before = named.read_bytes()
    done = run(named, *MEMORY, "--emit-xio-keys", plans.with_name("k"))
    assert (done.code, named.read_bytes()) == (2, before)
    assert names(plans.parent) == {"k.args"}


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        ("--save", "--metrics", "x"),
        ("--save", "--emit-xio-keys", "x"),
        ("--emit-xio-keys", "--metrics", "x"),
        ("--emit-xio-keys", "--metrics", "x.args"),
    ],
)
def test_two_outputs_are_two_files(
    run: Tool, tmp_path: Path, first: str, second: str, name: str
) -> None:
    done = run(*MAKE, first, tmp_path / "x", second, tmp_path / name)
    assert (done.code, done.out) == (2, "")
    assert names(tmp_path) == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ("bad.json", *MEMORY),
        ("deep.json", *MEMORY),
        ("--generate", "2", "--target", "cuba"),
        ("--generate", "2", "--device", "/dev/none"),
        (*MAKE, "--save", "."),
    ],
)
def test_a_run_that_cannot_be_leaves_what_was_there(
    run: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    for name in ("m", "k", "k.args"):
        (tmp_path / name).write_text(OLD)
    done = run(*arguments, "--metrics", "m", "--emit-xio-keys", "k")
    assert done.code != 0
    assert [(tmp_path / name).read_text() for name in ("m", "k", "k.args")] == [OLD] * 3
    assert names(tmp_path) == {"bad.json", "deep.json", "m", "k", "k.args"}


@pytest.mark.parametrize("option", OUTPUTS)
def test_what_has_no_room_leaves_what_was_there(tmp_path: Path, option: str) -> None:
    (tmp_path / "x").write_text(OLD)
    # A file may have 1 KiB here: what is written ends in the middle.
    done = shell(
        f"trap '' XFSZ; ulimit -f 1; TOOL --generate 20 {' '.join(MEMORY)} {option} x", tmp_path
    )
    assert (done.returncode, done.stderr.strip()) == (1, "xiokv: x: File too large")
    assert (tmp_path / "x").read_text() == OLD
    assert names(tmp_path) == {"x"}


@pytest.mark.parametrize("option", OUTPUTS)
def test_a_fault_of_an_output_names_it_as_it_was_given(
    run: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    done = run(*MAKE, option, "nowhere/x")
    # Before anything is replayed.
    assert (done.code, done.out) == (1, "")
    assert done.err == "xiokv: nowhere/x: No such file or directory\n"
    done = run(*MAKE, option, "loop")
    assert done.code == 1
    assert done.err.startswith("xiokv: loop: ")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_no_temporary_file(tmp_path: Path, number: signal.Signals) -> None:
    words = [*REPLAY, "--generate", "100000", *MEMORY, "--save", "x"]
    (tmp_path / "x").write_text(OLD)
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        until = time.monotonic() + 30
        while len(names(tmp_path)) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        begun = len(names(tmp_path)) == 2
        running.send_signal(number)
        try:
            _, said = running.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            running.kill()
            raise
    assert begun
    words = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}
    assert (running.returncode, said) == (-number, f"xiokv: {words[number.name]}\n")
    assert names(tmp_path) == {"x"}
    assert (tmp_path / "x").read_text() == OLD


def test_an_interrupt_while_standard_input_is_read_leaves_nothing(tmp_path: Path) -> None:
    words = [*REPLAY, "-", *MEMORY]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        words, env=environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdin is not None
        running.stdin.write(b" " * (4 << 20))
        running.stdin.flush()
        running.send_signal(signal.SIGINT)
        try:
            _, said = running.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            running.kill()
            raise
    assert (running.returncode, said) == (-signal.SIGINT, b"xiokv: interrupted\n")
    assert names(tmp_path) == set()


# What it reads


def test_plans_of_a_pipe_are_replayed_for_each_size(plans: Path) -> None:
    done = shell("TOOL <(cat in.jsonl) --storage memory --block-bytes 64,128 --json", plans.parent)
    runs = json.loads(done.stdout)["runs"]
    assert [one["metrics"]["plans"] for one in runs] == [2, 2]


def test_a_standard_input_that_is_closed_is_told(tmp_path: Path) -> None:
    done = shell(f"TOOL - {' '.join(MEMORY)} <&-", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("xiokv: standard input is closed; give plans to it, or a file")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
def test_what_is_nested_too_deeply_is_told(run: Tool, tmp_path: Path, text: str) -> None:
    path = tmp_path / "deep.json"
    path.write_text(text)
    done = run(path, *MEMORY)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"xiokv: {path}")


# What is too large


def span(target: int, source: int, size: int) -> dict[str, object]:
    ends = {"target": [target, target + size], "source": [source, source + size]}
    return {"kind": "donor", "donor": "d", **ends}


@pytest.mark.parametrize(
    "spans",
    [
        [span(0, 0, 1 << 40)],
        [span(0, 0, 64), span(64, 1 << 40, 64)],
        [span((1 << 34) * n, 0, 1 << 34) for n in range(8)],
    ],
)
@pytest.mark.parametrize("size", ["1", "1MiB"])
def test_a_plan_that_can_never_fit_is_refused_at_once(
    run: Tool, tmp_path: Path, spans: list[dict[str, list[int]]], size: str
) -> None:
    plan = {
        "schema": "xiokv-plan/1.0",
        "request": "large",
        "tokens": spans[-1]["target"][1],
        "block_tokens": 64,
        "spans": spans,
    }
    path = tmp_path / "large.json"
    path.write_text(json.dumps(plan))
    done = run(path, "--storage", "memory", "--block-bytes", size)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("xiokv: plan 'large': its ")
    assert "up to 4194304 blocks and" in done.err


def test_donors_that_are_far_apart_are_stored_one_after_the_other(
    run: Tool, tmp_path: Path
) -> None:
    path = tmp_path / "far.jsonl"
    with path.open("w") as file:
        for number, at in enumerate((0, 1 << 40, 0)):
            plan = {
                "schema": "xiokv-plan/1.0",
                "request": f"r{number}",
                "tokens": 64,
                "block_tokens": 64,
                "spans": [span(0, at, 64)],
            }
            file.write(json.dumps(plan) + "\n")
    done = run(path, *MEMORY, "--json")
    (one,) = json.loads(done.out)["runs"]
    assert (done.code, one["checked_blocks"], one["published_bytes"]) == (0, 6, 6 * 64)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--decline", "nan"), "Invalid value for '--decline': nan is not in the range"),
        (("--store-bytes", "1KiB"), "1KiB is too small; 1MiB to 64GiB is allowed"),
        (("--store-bytes", "1MiB,2MiB"), "1MiB,2MiB is 2 sizes; give one"),
    ],
)
def test_numbers_out_of_bounds_are_refused(run: Tool, arguments: tuple[str], said: str) -> None:
    done = run(*MAKE, *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
