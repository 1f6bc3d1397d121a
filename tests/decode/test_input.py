"""decode: the forms in which bytes are given, and what is said of those that are none."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from xiokv.codegen import cli

from .conftest import RETRIEVE, cqe, sqe

MISSING = cqe(sc=0x87)
WORDS = [int.from_bytes(RETRIEVE[at : at + 4], "little") for at in range(0, 64, 4)]


def kinds(outcome) -> list[str]:
    assert outcome.code == 0, outcome.err
    return [entry["kind"] for entry in json.loads(outcome.out)["entries"]]


def dump(*command: str, data: bytes = RETRIEVE) -> bytes:
    """Return what a program makes of bytes."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


@pytest.mark.parametrize(
    "text",
    [
        RETRIEVE.hex(),
        RETRIEVE.hex().upper(),
        "0x" + RETRIEVE.hex(),
        RETRIEVE.hex(" "),
        RETRIEVE.hex(":", 2),
        ", ".join(f"0x{byte:02x}" for byte in RETRIEVE),
        " ".join(f"{word:#010x}" for word in WORDS),
        f"0x7ffe10:\t{' '.join(f'{word:#010x}' for word in WORDS)}",
        f"17 sqe 3 {RETRIEVE.hex()}",
        "{" + ",".join(hex(byte) if byte > 9 else str(byte) for byte in RETRIEVE) + "}",
        "const uint8_t sqe[64] = {" + ", ".join(map(hex, RETRIEVE)) + "};",
    ],
)
def test_a_form_of_digits(decode, text: str) -> None:
    assert "SQE: retrieve, key b'layer0/b'" in decode(text).out


def test_digits_may_come_as_several_arguments(decode) -> None:
    assert "SQE: retrieve, key b'layer0/b'" in decode(*RETRIEVE.hex(" ").split()).out


@pytest.mark.parametrize(
    "command",
    [
        ("xxd",),
        ("xxd", "-g1", "-c", "7"),
        ("xxd", "-p"),
        ("xxd", "-i"),
        ("hexdump", "-Cv"),
        ("od", "-A", "x", "-t", "x1z", "-v"),
        ("od", "-A", "n", "-t", "x1", "-v", "-w7"),
    ],
)
def test_a_dump_of_several_lines_is_one_entry(decode, command: tuple[str, ...]) -> None:
    text = b"" if command == ("xxd", "-i") else dump(*command)
    text = text or dump("xxd", "-i").replace(b"\n", b"")
    assert "SQE: retrieve, key b'layer0/b'" in decode("-", stdin=text).out


def test_a_list_of_c_over_several_lines_is_one_entry(decode, tmp_path) -> None:
    (tmp_path / "sqe").write_bytes(RETRIEVE)
    text = dump("xxd", "-i", str(tmp_path / "sqe"))
    assert b"unsigned char " in text
    assert kinds(decode("-", "--json", stdin=text)) == ["sqe"]
    assert "SQE: retrieve, key b'layer0/b'" in decode("-", stdin=text).out


def swapped(data: bytes) -> str:
    """Return dwords as a driver's log prints them: %08x."""
    words = (int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4))
    return " ".join(f"{word:08x}" for word in words)


@pytest.mark.parametrize(
    ("data", "title"),
    [
        (RETRIEVE, "retrieve, key b'layer0/b', 8 bytes, CID 0x0005"),
        (MISSING, "KEY_DOES_NOT_EXIST, CID 0x0005"),
    ],
)
def test_words_that_are_given_in_reverse_are_told(decode, data: bytes, title: str) -> None:
    note = f"note: with the bytes of each 32-bit word reversed this is: {title}"
    out = decode(swapped(data)).out
    assert note in out
    (entry,) = json.loads(decode("--json", swapped(data)).out)["entries"]
    assert title in entry["note"]
    as_it_says = " ".join(f"0x{word}" for word in swapped(data).split())
    assert title in decode(as_it_says).out.splitlines()[0]


@pytest.mark.parametrize("data", [RETRIEVE, MISSING, bytes(64), b"\xff" * 64, bytes(16)])
def test_what_makes_sense_or_does_in_no_order_has_no_note(decode, data: bytes) -> None:
    assert "note:" not in decode(data.hex()).out


@pytest.mark.parametrize("command", [("hexdump",), ("hexdump", "-x"), ("od",), ("od", "-tx4")])
def test_a_dump_in_words_is_refused_with_what_to_do(decode, command: tuple[str, ...]) -> None:
    outcome = decode("-", stdin=dump(*command))
    assert (outcome.code, outcome.out) == (1, "")
    assert "dump bytes: xxd FILE, hexdump -Cv FILE or od -A x -t x1 -v FILE" in outcome.err


def test_a_file_in_place_of_digits_is_told_how_to_be_read(decode, tmp_path) -> None:
    path = tmp_path / "an sqe.txt"
    path.write_text(RETRIEVE.hex(), encoding="utf-8")
    outcome = decode(str(path))
    assert outcome.code == 2
    assert f"write: xiokv-gen decode - < '{path}'" in outcome.err
    assert "a file is read by: xiokv-gen decode - < FILE" in decode(f"{path}.gone").err


def test_lines_that_each_are_an_entry_stay_apart(decode) -> None:
    text = f"{RETRIEVE.hex()}\n{MISSING.hex(' ')}\n\n{RETRIEVE.hex()}\n"
    assert kinds(decode("-", "--json", stdin=text.encode())) == ["sqe", "cqe", "sqe"]


@pytest.mark.parametrize(("kind", "count"), [("sqe", 2), ("cqe", 8)])
def test_a_kind_that_is_forced_cuts_a_dump(decode, kind: str, count: int) -> None:
    text = dump("xxd", data=2 * RETRIEVE)
    assert kinds(decode("-", "--json", "--kind", kind, stdin=text)) == count * [kind]


def test_a_trace_names_the_command_that_completed(decode) -> None:
    lines = [f"10 sqe 1 {RETRIEVE.hex()}", f"20 cqe 1 {cqe(9000).hex()}"]
    out = decode("-", stdin="\n".join(lines).encode()).out
    assert "CQE: SUCCESS of retrieve, CID 0x0005" in out
    assert "the value has 9000 bytes, truncated: the buffer had 8192 bytes (8 KiB)" in out


def test_a_value_that_fills_its_buffer_is_not_truncated(decode) -> None:
    lines = [f"10 sqe 1 {RETRIEVE.hex()}", f"20 cqe 1 {cqe(8192).hex()}"]
    out = decode("-", stdin="\n".join(lines).encode()).out
    assert "the value has 8192 bytes (8 KiB)" in out
    assert "truncated" not in out


def test_a_trace_of_exec_tells_how_large_the_output_is(decode, tmp_path: Path) -> None:
    (tmp_path / "xiokv.toml").write_text("[semantics]\nexec = true\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        cli.main(["--project", str(tmp_path), "fetch"])
    entry = sqe(cdw0=0x0005_0083, cdw1=1, cdw10=9, cdw12=8, cdw13=1)
    lines = [f"10 sqe 1 {entry.hex()}", f"20 cqe 1 {cqe(5000).hex()}"]
    out = decode("-", stdin="\n".join(lines).encode(), project=tmp_path).out
    assert "CQE: SUCCESS of exec, CID 0x0005" in out
    assert "the output has 5000 bytes, truncated: the buffer had 8 bytes" in out


def test_a_completion_on_another_queue_is_of_another_command(decode) -> None:
    lines = [f"10 sqe 1 {RETRIEVE.hex()}", f"20 cqe 2 {cqe(9000).hex()}"]
    assert "CQE: SUCCESS, CID" in decode("-", stdin="\n".join(lines).encode()).out


def test_an_opcode_of_the_admin_queue_is_no_key_value_command(decode) -> None:
    out = decode(f"1 sqe 0 {RETRIEVE.hex()}").out
    assert "SQE: admin command, opcode 0x02" in out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("00", "1 byte; an SQE has 64 bytes, a CQE 16"),
        (RETRIEVE.hex()[:-2], "63 bytes; an SQE has 64 bytes, a CQE 16"),
        ("0" * 257, "has 257 digits; write two for each byte"),
        ("00" * 128, "128 bytes; an SQE has 64 bytes, a CQE 16; give --kind sqe for 2 entries"),
        ("00" * 48, "48 bytes; an SQE has 64 bytes, a CQE 16; give --kind cqe for 3 entries"),
        ("hello", "'hello' is not hexadecimal"),
        ("1 2 3", "'1' has 1 digit; write two for each byte"),
        ("{0x0c, 16, 0}", "'16' may be decimal among numbers of C; write it with 0x"),
        ("0x0c, 16,", "'16' may be decimal among numbers of C; write it with 0x"),
        ("{12, 34}", "'12' may be decimal among numbers of C; write it with 0x"),
        ("0x", "'0x' is not hexadecimal"),
        ("12 cqe 1 00", "1 byte, and each CQE has 16"),
        ("00000000: 0102\n*\n00000030: 0102", "'*' stands for lines that the dump leaves out"),
        ("\x1b[31m", "'[31m' is not hexadecimal"),
        ("\udcff", "is not hexadecimal"),
    ],
)
def test_what_is_no_entry_is_refused_in_one_line(decode, text: str, said: str) -> None:
    outcome = decode("-", stdin=text.encode("utf-8", "surrogatepass"))
    assert (outcome.code, outcome.out) == (1, "")
    assert said in outcome.err.splitlines()[0]
    assert "\x1b" not in outcome.err


@pytest.mark.parametrize(
    ("stdin", "said"),
    [(b"", "standard input holds no digits"), (RETRIEVE, "xxd FILE | xiokv-gen decode -")],
)
def test_an_input_that_is_no_text_is_a_matter_of_usage(decode, stdin: bytes, said: str) -> None:
    outcome = decode("-", stdin=stdin)
    assert outcome.code == 2
    assert said in outcome.err


def test_an_input_that_is_closed_is_a_matter_of_usage(decode) -> None:
    outcome = decode("-", stdin=None)
    assert outcome.code == 2
    assert "standard input is closed" in outcome.err


def test_a_fault_names_its_line(decode) -> None:
    outcome = decode("-", stdin=f"{RETRIEVE.hex()}\n\nxyz\n".encode())
    assert outcome.err.startswith("xiokv-gen: standard input:3: error: 'xyz'")


def test_a_kind_that_a_trace_contradicts_is_refused(decode) -> None:
    outcome = decode("--kind", "cqe", f"1 sqe 1 {RETRIEVE.hex()}")
    assert outcome.code == 1
    assert "the trace says sqe, --kind cqe" in outcome.err


def test_a_line_of_the_controllers_trace_is_read(decode) -> None:
    from xiokv.runtime.emulator.records import TraceRecord

    line = str(TraceRecord(17, "cqe", 1, MISSING))
    assert "CQE: KEY_DOES_NOT_EXIST, CID 0x0005" in decode(line).out
