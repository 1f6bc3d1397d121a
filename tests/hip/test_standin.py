"""The stand-in does with devices, memory and handles what HIP does, as hip-python sees it."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import pytest

from tests.hip.inside import Bench, bindings, take

# What follows up to the tests runs in processes that have the stand-in, and returns what
# was seen there.


def _number(pointer: Any) -> int:
    return 0 if pointer is None else int(pointer)


def _device(number: int) -> Any:
    hip = bindings()
    error, properties = hip.hipGetDeviceProperties(number)
    wall_clock = hip.hipDeviceAttribute_t.hipDeviceAttributeWallClockRate
    return {
        "error": error.name,
        "count": take(hip.hipGetDeviceCount()),
        "architecture": properties.gcnArchName,
        "wave": properties.warpSize,
        "khz": hip.hipDeviceGetAttribute(wall_clock, number)[1],
        "bytes": properties.totalGlobalMem,
        "large bar": properties.isLargeBar,
    }


def _without_devices() -> Any:
    hip = bindings()
    calls = (hip.hipInit(0), hip.hipGetDeviceCount(), hip.hipMalloc(16))
    return [result[0].name for result in calls]


def _last_errors() -> Any:
    hip = bindings()
    event = take(hip.hipEventCreate())
    before = hip.hipFree(16)[0].name
    hip.hipEventQuery(event)
    return [before, *(hip.hipGetLastError()[0].name for _ in range(2))]


def _there_and_back(size: int) -> Any:
    bench = Bench()
    source, sent = bench.pinned(size)
    target, received = bench.pinned(size)
    device = bench.device(size)
    sent[:] = range(len(sent))
    bench.copy(device, source, size)
    bench.copy(target, device, size)
    return bench.synchronize(), list(sent) == list(received)


def _fresh() -> Any:
    bench = Bench()
    target, seen = bench.pinned(16)
    before = list(seen)
    bench.copy(target, bench.device(16), 16)
    return bench.synchronize(), before, list(seen)


def _pointers() -> Any:
    """Describe byte 5 of memory of each kind; addresses count from its start."""
    bench = Bench()
    hip = bench.hip
    own = ctypes.create_string_buffer(64)
    registered = ctypes.addressof(own)
    take(hip.hipHostRegister(registered, 32, hip.hipHostRegisterMapped))
    places = {
        "device": bench.device(32),
        "pinned": bench.pinned(32)[0],
        "registered": registered,
        "beside": registered + 32,
    }

    def described(address: int) -> Any:
        error, found = hip.hipPointerGetAttributes(address + 5)
        if error != 0:
            return error.name
        kept = (_number(found.devicePointer), _number(found.hostPointer))
        return found.type.value, found.device, *(place and place - address for place in kept)

    return {name: described(address) for name, address in places.items()}


def _two_addresses() -> Any:
    bench = Bench()
    hip = bench.hip
    host, seen = bench.pinned(16)
    there = _number(take(hip.hipHostGetDevicePointer(host, 0)))
    found = take(hip.hipPointerGetAttributes(there + 4))
    take(hip.hipMemsetAsync(there + 4, 1, 4, bench.stream))
    return {
        "end": bench.synchronize(),
        "seen": list(seen)[:2],
        "apart": there != host,
        "same byte": (_number(found.devicePointer) - there, _number(found.hostPointer) - host),
        "freed by the other": hip.hipHostFree(there)[0].name,
        "freed": hip.hipHostFree(host)[0].name,
        "left": take(hip.hipPointerGetAttributes(there)).type.value,
    }


def _refused_memory() -> Any:
    bench = Bench()
    hip = bench.hip
    device, (pinned, _) = bench.device(16), bench.pinned(16)
    kind = hip.hipMemcpyKind.hipMemcpyDefault
    calls = {
        "too much of the device": lambda: hip.hipMalloc(4096),
        "too much page-locked": lambda: hip.hipHostMalloc(4096, 0),
        "a copy past the end": lambda: hip.hipMemcpyAsync(device, pinned, 17, kind, bench.stream),
        "page-locked to hipFree": lambda: hip.hipFree(pinned),
        "device to hipHostFree": lambda: hip.hipHostFree(device),
        "registered as part of another": lambda: hip.hipHostRegister(pinned + 8, 4, 0),
        "never registered": lambda: hip.hipHostUnregister(device),
        "device pointer of unknown memory": lambda: hip.hipHostGetDevicePointer(64, 0),
        "freed": lambda: hip.hipFree(device),
        "freed again": lambda: hip.hipFree(device),
    }
    return {name: made()[0].name for name, made in calls.items()}


def _refused_handles() -> Any:
    bench = Bench()
    hip = bench.hip
    other = take(hip.hipStreamCreateWithFlags(0))
    take(hip.hipStreamDestroy(other))
    untimed = bench.record(flags=hip.hipEventDisableTiming)
    take(hip.hipSetDevice(1))
    foreign = take(hip.hipEventCreate())
    calls = {
        "a destroyed stream": hip.hipStreamSynchronize(int(other)),
        "no event": hip.hipEventQuery(12345),
        "no module": hip.hipModuleUnload(12345),
        "no kernel": hip.hipModuleLaunchKernel(5, 1, 1, 1, 1, 1, 1, 0, bench.stream, None, ()),
        "an event of another device": hip.hipEventRecord(foreign, bench.stream),
        "time of an event without": hip.hipEventElapsedTime(untimed, untimed),
    }
    return {name: result[0].name for name, result in calls.items()}


@pytest.mark.parametrize(
    "architecture", ["gfx90a:sramecc+:xnack-", "gfx942:sramecc+:xnack-", "gfx1100"]
)
def test_the_device_is_what_the_environment_says(standin, architecture):
    seen = standin.call(_device, 0, arch=architecture, devices=2, memory=1 << 20)
    wave = 64 if architecture.startswith("gfx9") else 32
    assert seen == {
        "error": "hipSuccess",
        "count": 2,
        "architecture": architecture,
        "wave": wave,
        "khz": 100_000,
        "bytes": 1 << 20,
        "large bar": 1,
    }


def test_without_a_device_every_call_says_so(standin):
    assert standin.call(_without_devices, devices=0) == ["hipErrorNoDevice"] * 3


def test_the_last_error_stays_until_it_is_asked_for(standin):
    assert standin.call(_last_errors) == [*["hipErrorInvalidDevicePointer"] * 2, "hipSuccess"]


@pytest.mark.parametrize("names", [(), ("libamdhip64.so.6",)])
def test_another_file_name_is_no_library_to_hip_python(standin, names):
    standin.offer(*names)
    done = standin.run(sys.executable, "-c", "from hip import hip; hip.hipInit(0)")
    assert done.returncode == 1
    assert "failed to dlopen" in done.stderr


def test_bytes_come_back_from_the_device(standin):
    assert standin.call(_there_and_back, 1 << 20) == ["hipSuccess", True]


def test_new_memory_is_not_zero(standin):
    assert standin.call(_fresh) == ["hipSuccess", [0xA5A5A5A5] * 4, [0xA5A5A5A5] * 4]


@pytest.mark.parametrize(
    ("known_only", "unknown"), [(0, [0, -2, 0, 0]), (1, "hipErrorInvalidValue")]
)
def test_a_pointer_tells_whose_memory_it_is(standin, known_only, unknown):
    assert standin.call(_pointers, known_only=known_only) == {
        "device": [2, 0, 5, 0],
        "pinned": [1, 0, 5, 5],
        "registered": [1, 0, 5, 5],
        "beside": unknown,
    }


def test_page_locked_memory_may_have_two_addresses(standin):
    assert standin.call(_two_addresses, two_addresses=1) == {
        "end": "hipSuccess",
        "seen": [0xA5A5A5A5, 0x01010101],
        "apart": True,
        "same byte": [4, 4],
        "freed by the other": "hipErrorInvalidValue",
        "freed": "hipSuccess",
        "left": 0,
    }


def test_what_is_wrong_with_memory_is_refused(standin):
    assert standin.call(_refused_memory, memory=1024, pinned=1024) == {
        "too much of the device": "hipErrorOutOfMemory",
        "too much page-locked": "hipErrorOutOfMemory",
        "a copy past the end": "hipErrorInvalidValue",
        "page-locked to hipFree": "hipErrorInvalidDevicePointer",
        "device to hipHostFree": "hipErrorInvalidValue",
        "registered as part of another": "hipErrorHostMemoryAlreadyRegistered",
        "never registered": "hipErrorHostMemoryNotRegistered",
        "device pointer of unknown memory": "hipErrorInvalidValue",
        "freed": "hipSuccess",
        "freed again": "hipErrorInvalidDevicePointer",
    }


def test_handles_of_nothing_are_refused(standin):
    assert set(standin.call(_refused_handles, devices=2).values()) == {"hipErrorInvalidHandle"}


def test_every_call_is_in_the_log(standin, tmp_path):
    log = tmp_path / "calls"
    standin.call(_refused_memory, memory=1024, log=log)
    lines = log.read_text().splitlines()
    assert lines[0] == "hipStreamCreateWithFlags 1 = hipSuccess"
    assert "hipMalloc 4096 = hipErrorOutOfMemory" in lines
