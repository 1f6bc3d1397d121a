"""kv_exec.h and the twin's part about Exec: bytes by hand, both alike, nothing out of bounds."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import exec_project

from .conftest import ERRORS, SIZE, U64, Entry, Limits
from .test_twin_agreement import EXAMPLES, near

HERE = Path(__file__).parent
LENGTHS = ("payload", "input")
DWORD = 0xFFFFFFFF
ROOM = 600


def _bytes(**dwords: int) -> bytes:
    """Return an entry, dword by dword."""
    words = [0] * 16
    for name, value in dwords.items():
        words[int(name.removeprefix("cdw"))] = value
    return struct.pack("<16I", *words)


# By hand: opcode 83h; NSID; CDW10 by the profile's choice; CDW12 output size; CDW13 operation.
GOLDEN = [
    (
        {"nsid": 1, "key_length": 1, "input_length": 0, "output_size": 0, "operation": 0},
        {"payload": _bytes(cdw0=0x83, cdw1=1, cdw10=3), "input": _bytes(cdw0=0x83, cdw1=1)},
    ),
    (
        {
            "nsid": 0xFFFFFFFE,
            "key_length": 255,
            "input_length": 0x01020304,
            "output_size": 0xA1B2C3D4,
            "operation": 0x11223344,
        },
        {
            "payload": bytes.fromhex(
                "83000000feffffff" + "00" * 32 + "05040201" + "00000000" + "d4c3b2a1"
                "44332211" + "00" * 8
            ),
            "input": bytes.fromhex(
                "83000000feffffff" + "00" * 32 + "04030201" + "00000000" + "d4c3b2a1"
                "44332211" + "00" * 8
            ),
        },
    ),
]


class Shim:
    """exec_shim.c, called with plain values."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library

    def encode(
        self,
        *,
        nsid: int,
        key_length: int,
        input_length: int,
        output_size: int,
        operation: int,
        transfer_max: int | None = None,
    ) -> tuple[str, bytes]:
        entry = Entry()
        limits = None if transfer_max is None else ctypes.byref(Limits(4, 1, transfer_max))
        error = self.library.shim_encode(
            entry.address,
            limits,
            nsid,
            SIZE(key_length),
            U64(input_length),
            U64(output_size),
            operation,
        )
        return ERRORS[-error], bytes(entry)

    def pack(self, size: int, key: bytes, input_: bytes) -> tuple[str, bytes]:
        """Return (error, the whole buffer, poisoned before, with as much behind it)."""
        buffer = ctypes.create_string_buffer(b"\xa5" * 2 * ROOM, 2 * ROOM)
        error = self.library.shim_pack(
            buffer, SIZE(size), key, SIZE(len(key)), input_, SIZE(len(input_))
        )
        return ERRORS[-error], buffer.raw


@pytest.fixture(scope="session", params=LENGTHS)
def length(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def exec_shim(length: str, load: Callable[..., ctypes.CDLL]) -> Shim:
    return Shim(load(exec_project.generated(length) / "include", "exec_shim.c"))


@pytest.fixture(scope="session")
def exec_twin(length: str) -> ModuleType:
    path = exec_project.generated(length) / "nvme_kv.py"
    found = importlib.util.spec_from_file_location(f"exec_kv_{length}", path)
    assert found
    assert found.loader
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module
    found.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("request_", "entries"), GOLDEN)
def test_entries_are_those_written_by_hand(
    exec_shim: Shim,
    exec_twin: ModuleType,
    length: str,
    request_: dict[str, int],
    entries: dict[str, bytes],
) -> None:
    assert exec_shim.encode(**request_) == ("OK", entries[length])
    assert exec_twin.encode_exec(**request_) == entries[length]


REQUESTS = st.fixed_dictionaries(
    {
        "nsid": near(0, 1, DWORD - 1, DWORD).map(lambda nsid: nsid % 2**32),
        "key_length": st.one_of(near(0, 1, 16, 17, 255, 256), st.integers(1, 255)),
        "input_length": near(0, 1, DWORD - 258, DWORD - 257, DWORD - 256, DWORD - 2, DWORD),
        "output_size": near(0, 1, DWORD, DWORD + 1),
        "operation": st.integers(0, DWORD),
    }
)


@EXAMPLES
@given(request_=REQUESTS)
def test_both_encode_alike_and_refuse_alike(
    exec_shim: Shim, exec_twin: ModuleType, request_: dict[str, int]
) -> None:
    try:
        expected = exec_twin.encode_exec(**request_)
    except ValueError:
        expected = None
    error, entry = exec_shim.encode(**request_)
    assert (entry if error == "OK" else None) == expected
    assert error == "OK" or entry == b"\xa5" * 64


FINE = {"nsid": 1, "key_length": 8, "input_length": 0, "output_size": 0, "operation": 1}


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"nsid": 0}, "NSID"),
        ({"nsid": DWORD}, "NSID"),
        ({"key_length": 0}, "KEY_LENGTH"),
        ({"key_length": 256}, "KEY_LENGTH"),
        ({"key_length": 2**32 + 8}, "KEY_LENGTH"),
        ({"input_length": DWORD - 9}, "VALUE_SIZE"),
        ({"input_length": 2**64 - 1}, "VALUE_SIZE"),
        ({"output_size": 2**32}, "VALUE_SIZE"),
        ({"transfer_max": 4096, "output_size": 4097}, "VALUE_SIZE"),
        ({"transfer_max": 4096, "input_length": 4087}, "VALUE_SIZE"),
        ({"transfer_max": 4096, "input_length": 4086, "output_size": 4096}, "OK"),
        ({"transfer_max": 0, "input_length": 1 << 30}, "OK"),  # 0: no limit
        ({"transfer_max": 4096, "key_length": 255}, "OK"),  # a key that no entry holds
    ],
)
def test_a_request_is_refused_for_what_is_wrong_with_it(
    exec_shim: Shim, changed: dict[str, int], error: str
) -> None:
    assert exec_shim.encode(**FINE | changed)[0] == error


@EXAMPLES
@given(
    key=st.binary(max_size=260),
    input_=st.binary(max_size=300),
    spare=st.integers(-3, 3),
)
def test_a_payload_is_packed_alike_and_within_its_buffer(
    exec_shim: Shim, exec_twin: ModuleType, key: bytes, input_: bytes, spare: int
) -> None:
    size = max(2 + len(key) + len(input_) + spare, 0)
    error, buffer = exec_shim.pack(size, key, input_)
    if not 1 <= len(key) <= 255:
        assert error == "KEY_LENGTH"
        with pytest.raises(ValueError, match="exec takes 1 to 255"):
            exec_twin.pack_exec(key, input_)
    elif spare < 0:
        assert error == "VALUE_SIZE"
    else:
        payload = len(key).to_bytes(2, "little") + key + input_
        assert (error, buffer) == ("OK", payload.ljust(2 * ROOM, b"\xa5"))
        assert exec_twin.pack_exec(key, input_) == payload
        assert exec_twin.unpack_exec(payload) == (key, input_)
    assert error == "OK" or buffer == b"\xa5" * 2 * ROOM


@EXAMPLES
@given(payload=st.binary(max_size=300))
def test_any_bytes_are_a_payload_or_an_error(exec_twin: ModuleType, payload: bytes) -> None:
    try:
        key, input_ = exec_twin.unpack_exec(payload)
    except ValueError:
        return
    assert exec_twin.pack_exec(key, input_) == payload


@pytest.mark.parametrize(
    ("input_length", "output_size", "transfer"), [(0, 0, 10), (100, 50, 110), (100, 4096, 4096)]
)
def test_the_data_pointer_covers_the_larger_of_payload_and_output(
    exec_shim: Shim, input_length: int, output_size: int, transfer: int
) -> None:
    assert exec_shim.library.shim_transfer(8, input_length, output_size) == transfer


def test_an_entry_is_taken_apart_again(exec_twin: ModuleType, length: str) -> None:
    entry = bytearray(exec_twin.encode_exec(**FINE | {"input_length": 7, "output_size": 9}))
    struct.pack_into("<QQ", entry, 24, 0x1000, 0x2000)
    command = exec_twin.decode_exec(entry)
    assert (command.prp1, command.prp2, command.nsid) == (0x1000, 0x2000, 1)
    assert (command.length, command.length_of) == (17 if length == "payload" else 7, length)
    assert (command.output_size, command.operation, command.faults) == (9, 1, ())
    assert exec_twin.decode_command(entry) == command
    assert (command.name, command.opcode, command.key) == ("exec", 0x83, b"")
    entry[8] = entry[44] = 1
    assert [fault.split(" ")[0] for fault in exec_twin.decode_exec(entry).faults] == [
        "rsvd_cdw2",
        "rsvd_cdw11",
    ]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda twin: twin.decode_exec(bytes(64)), "opcode 0x00 is not that of exec, 0x83"),
        (lambda twin: twin.decode_exec(bytes(63)), "64 bytes, not 63"),
        (lambda twin: twin.encode_exec(**FINE | {"operation": -1}), "operation = -0x1"),
        (lambda twin: twin.unpack_exec(b"\x01"), "no room for its key length"),
        (lambda twin: twin.unpack_exec(b"\x02\0a"), "ends within its key of 2"),
        (lambda twin: twin.encode("exec", nsid=1, key=b"k"), "form of its own; call encode_exec"),
        (lambda twin: twin.encode(0x83, nsid=1, key=b"k"), "form of its own; call encode_exec"),
    ],
)
def test_what_is_no_exec_is_refused(
    exec_twin: ModuleType, call: Callable[[ModuleType], Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        call(exec_twin)


def test_the_opcode_and_the_limits_of_keys_are_public(exec_twin: ModuleType) -> None:
    assert (exec_twin.Opcode.EXEC, exec_twin.EXEC_KEY_MIN_LEN) == (0x83, 1)
    assert exec_twin.EXEC_KEY_MAX_LEN == 255
    assert {"encode_exec", "pack_exec"} <= set(exec_twin.__all__)


def test_each_header_compiles_on_its_own(compiler: Any, length: str, tmp_path: Path) -> None:
    for name in ("kv_exec", "kv_exec_payload", "nvme_kv"):
        source = tmp_path / "unit.c"
        source.write_text(f'#include "xiokv/{name}.h"\nint unit;\n', encoding="utf-8")
        compiler.build(exec_project.generated(length) / "include", "-fsyntax-only", source)


def test_the_headers_compile_for_amd_gpus(length: str, tmp_path: Path) -> None:
    if shutil.which("clang-19") is None:
        pytest.skip("clang-19 is not installed")
    include = exec_project.generated(length) / "include"
    flags = ("-std=c++17", "-x", "hip", "--offload-device-only", "-nogpuinc", "-nogpulib")
    warnings = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
    target = ("--offload-arch=gfx942", "--no-gpu-bundle-output", "-O2", "-c")
    command = ["clang-19", *flags, *target, *warnings, f"-I{include}"]
    command += ["-o", str(tmp_path / "exec.o"), str(HERE / "exec.hip")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
