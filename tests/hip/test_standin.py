"""The stand-in does what HIP does, as hip-python sees it."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

KERNELS = Path(__file__).with_name("kernels.hip")
ARCHITECTURES = {
    "gfx90a": "gfx90a:sramecc+:xnack-",
    "gfx942": "gfx942:sramecc+:xnack-",
    "gfx1100": "gfx1100",
    "gfx1151": "gfx1151",
    "gfx1201": "gfx1201",
}
CODE = ("-x", "hip", "--offload-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib")
CODE_OPTIONS = ("-O2", "-mcode-object-version=5")


@pytest.fixture(scope="session")
def code_object(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Return a function that compiles the kernels for an architecture, once."""
    if shutil.which("clang-19") is None:
        pytest.skip("clang-19 is not installed: apt-get install clang-19 lld-19")
    folder = tmp_path_factory.mktemp("code")

    def compiled(architecture: str) -> str:
        made = folder / f"{architecture.replace(':', '_')}.hsaco"
        if not made.exists():
            words = (*CODE, *CODE_OPTIONS, f"--offload-arch={architecture}", KERNELS, "-o", made)
            subprocess.run(["clang-19", *map(str, words)], check=True)
        return str(made)

    return compiled


# What follows up to the tests runs in processes that have the stand-in, and returns what
# was seen there.


def _take(result: tuple[Any, ...]) -> Any:
    """Return what a call gave, which has to have gone well."""
    error, *given = result
    assert error == 0, error.name
    return given[0] if len(given) == 1 else tuple(given)


def _hip() -> Any:
    from hip import hip

    return hip


def _number(pointer: Any) -> int:
    return 0 if pointer is None else int(pointer)


def _device(number: int) -> Any:
    hip = _hip()
    error, properties = hip.hipGetDeviceProperties(number)
    wall_clock = hip.hipDeviceAttribute_t.hipDeviceAttributeWallClockRate
    return {
        "error": error.name,
        "count": _take(hip.hipGetDeviceCount()),
        "architecture": properties.gcnArchName,
        "wave": properties.warpSize,
        "khz": hip.hipDeviceGetAttribute(wall_clock, number)[1],
        "bytes": properties.totalGlobalMem,
        "large bar": properties.isLargeBar,
    }


def _without_devices() -> Any:
    hip = _hip()
    calls = (hip.hipInit(0), hip.hipGetDeviceCount(), hip.hipMalloc(16))
    return [result[0].name for result in calls]


def _last_errors() -> Any:
    hip = _hip()
    event = _take(hip.hipEventCreate())
    before = hip.hipFree(16)[0].name
    hip.hipEventQuery(event)
    return [before, *(hip.hipGetLastError()[0].name for _ in range(2))]


class _Bench:
    """A stream, a module where there is one, and memory of both kinds."""

    def __init__(self, code: str | None = None) -> None:
        self.hip = _hip()
        self.stream = self.new_stream()
        if code is not None:
            self.module = _take(self.hip.hipModuleLoadData(Path(code).read_bytes()))

    def new_stream(self) -> Any:
        return _take(self.hip.hipStreamCreateWithFlags(self.hip.hipStreamNonBlocking))

    def pinned(self, size: int) -> tuple[int, Any]:
        """Return page-locked memory: its address, and an array over it."""
        pointer = int(_take(self.hip.hipHostMalloc(size, self.hip.hipHostMallocMapped)))
        return pointer, (ctypes.c_uint32 * (size // 4)).from_address(pointer)

    def device(self, size: int) -> int:
        return int(_take(self.hip.hipMalloc(size)))

    def copy(self, to: int, source: int, size: int) -> None:
        kind = self.hip.hipMemcpyKind.hipMemcpyDefault
        _take(self.hip.hipMemcpyAsync(to, source, size, kind, self.stream))

    def synchronize(self, stream: Any = None) -> str:
        (error,) = self.hip.hipStreamSynchronize(stream or self.stream)
        return str(error.name)

    def record(self, stream: Any = None, flags: int = 0) -> Any:
        event = _take(self.hip.hipEventCreateWithFlags(flags))
        _take(self.hip.hipEventRecord(event, stream or self.stream))
        return event

    def kernel(self, name: str) -> Any:
        return _take(self.hip.hipModuleGetFunction(self.module, name))

    def launch(self, name: str, *arguments: Any, shape: Any = (1, 1), stream: Any = None) -> str:
        groups, lanes = shape
        (error,) = self.hip.hipModuleLaunchKernel(
            self.kernel(name), groups, 1, 1, lanes, 1, 1, 0, stream or self.stream, None, arguments
        )
        return str(error.name)


def _there_and_back(size: int) -> Any:
    bench = _Bench()
    source, sent = bench.pinned(size)
    target, received = bench.pinned(size)
    device = bench.device(size)
    sent[:] = range(len(sent))
    bench.copy(device, source, size)
    bench.copy(target, device, size)
    return bench.synchronize(), list(sent) == list(received)


def _fresh() -> Any:
    bench = _Bench()
    target, seen = bench.pinned(16)
    before = list(seen)
    bench.copy(target, bench.device(16), 16)
    return bench.synchronize(), before, list(seen)


def _pointers() -> Any:
    """Describe byte 5 of memory of each kind; addresses count from its start."""
    bench = _Bench()
    hip = bench.hip
    own = ctypes.create_string_buffer(64)
    registered = ctypes.addressof(own)
    _take(hip.hipHostRegister(registered, 32, hip.hipHostRegisterMapped))
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
    bench = _Bench()
    hip = bench.hip
    host, seen = bench.pinned(16)
    there = _number(_take(hip.hipHostGetDevicePointer(host, 0)))
    found = _take(hip.hipPointerGetAttributes(there + 4))
    _take(hip.hipMemsetAsync(there + 4, 1, 4, bench.stream))
    return {
        "end": bench.synchronize(),
        "seen": list(seen)[:2],
        "apart": there != host,
        "same byte": (_number(found.devicePointer) - there, _number(found.hostPointer) - host),
        "freed by the other": hip.hipHostFree(there)[0].name,
        "freed": hip.hipHostFree(host)[0].name,
        "left": _take(hip.hipPointerGetAttributes(there)).type.value,
    }


def _refused_memory() -> Any:
    bench = _Bench()
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
    bench = _Bench()
    hip = bench.hip
    other = _take(hip.hipStreamCreateWithFlags(0))
    _take(hip.hipStreamDestroy(other))
    untimed = bench.record(flags=hip.hipEventDisableTiming)
    _take(hip.hipSetDevice(1))
    foreign = _take(hip.hipEventCreate())
    calls = {
        "a destroyed stream": hip.hipStreamSynchronize(int(other)),
        "no event": hip.hipEventQuery(12345),
        "no module": hip.hipModuleUnload(12345),
        "no kernel": hip.hipModuleLaunchKernel(5, 1, 1, 1, 1, 1, 1, 0, bench.stream, None, ()),
        "an event of another device": hip.hipEventRecord(foreign, bench.stream),
        "time of an event without": hip.hipEventElapsedTime(untimed, untimed),
    }
    return {name: result[0].name for name, result in calls.items()}


def _loaded(path: str, size: int | None) -> str:
    hip = _hip()
    image = Path(path).read_bytes()[:size]
    # What lies behind a shorter image is not part of it.
    return str(hip.hipModuleLoadData(image + bytes(1 << 20))[0].name)


def _symbols(path: str) -> Any:
    bench = _Bench(path)
    hip = bench.hip
    target, seen = bench.pinned(16)
    address, size = _take(hip.hipModuleGetGlobal(bench.module, b"numbers"))
    bench.copy(target, address, size)
    return {
        "numbers": (bench.synchronize(), list(seen)),
        "no global": hip.hipModuleGetGlobal(bench.module, b"nothing")[0].name,
        "no kernel": hip.hipModuleGetFunction(bench.module, b"nothing")[0].name,
    }


class _Sum(ctypes.Structure):
    _fields_ = (
        ("left", ctypes.c_uint64),
        ("right", ctypes.c_uint64),
        ("out", ctypes.c_uint64),
        ("count", ctypes.c_uint32),
    )


def _added(path: str, count: int, by_pointers: bool) -> Any:
    bench = _Bench(path)
    left, lefts = bench.pinned(4 * count)
    right, rights = bench.pinned(4 * count)
    out, outs = bench.pinned(4 * (count + 1))
    lefts[:] = range(count)
    rights[:] = range(1000, 1000 + count)
    outs[count] = 77
    if by_pointers:
        values = (*map(ctypes.c_uint64, (left, right, out)), ctypes.c_uint32(count))
        pointers = (ctypes.c_void_p * 4)(*map(ctypes.addressof, values))
        bench.hip.hipModuleLaunchKernel(
            bench.kernel("add_each"), 3, 1, 1, 96, 1, 1, 0, bench.stream, pointers, None
        )
    else:
        bench.launch("add", _Sum(left, right, out, count), shape=(3, 96))
    return bench.synchronize(), list(outs)


def _ordered(path: str) -> Any:
    """Let one stream wait at a gate, another for an event of the first, a third for none."""
    bench = _Bench(path)
    hip = bench.hip
    gate, _ = bench.pinned(8)
    opened, passed = (ctypes.c_uint32.from_address(gate + 4 * i) for i in range(2))
    opened.value = passed.value = 0
    bench.launch("gate", ctypes.c_uint64(gate), ctypes.c_uint64(gate + 4))
    behind, follower, free = bench.record(), bench.new_stream(), bench.new_stream()
    _take(hip.hipStreamWaitEvent(follower, behind, 0))
    following, unrelated = bench.record(follower), bench.record(free)
    _take(hip.hipEventSynchronize(unrelated))
    shut = [hip.hipEventQuery(event)[0].name for event in (behind, following)]
    opened.value = 1
    ends = [bench.synchronize(stream) for stream in (follower, bench.stream)]
    return {
        "shut": shut,
        "open": [hip.hipEventQuery(event)[0].name for event in (behind, following)],
        "ends": ends,
        "passed": passed.value,
        "in order": hip.hipEventElapsedTime(unrelated, following)[1] > 0,
    }


def _freed_at_a_gate(path: str) -> Any:
    """Free memory while a kernel runs; tell whether it was freed before and after its end."""
    bench = _Bench(path)
    gate, _ = bench.pinned(8)
    opened = ctypes.c_uint32.from_address(gate)
    opened.value = 0
    memory = bench.device(16)
    bench.launch("gate", ctypes.c_uint64(gate), ctypes.c_uint64(gate + 4))
    freeing = threading.Thread(target=bench.hip.hipFree, args=(memory,))
    freeing.start()
    freeing.join(0.1)
    before = not freeing.is_alive()
    opened.value = 1
    freeing.join()
    return before, bench.hip.hipFree(memory)[0].name


def _failed(path: str, kernel: str, *arguments: int) -> Any:
    bench = _Bench(path)
    words = [ctypes.c_uint64(argument) for argument in arguments]
    launched = bench.launch(kernel, *words)
    other = bench.new_stream()
    return {
        "launch": launched,
        "end": bench.synchronize(),
        "event": bench.hip.hipEventQuery(bench.record())[0].name,
        "next": bench.launch("write", ctypes.c_uint64(0), ctypes.c_uint64(0)),
        "other stream": bench.synchronize(other),
    }


def _stuck(path: str) -> Any:
    """Wait at a gate that nobody opens."""
    bench = _Bench(path)
    gate, words = bench.pinned(8)
    words[:] = [0, 0]
    bench.launch("gate", ctypes.c_uint64(gate), ctypes.c_uint64(gate + 4))
    return bench.synchronize()


@pytest.mark.parametrize("architecture", ARCHITECTURES.values())
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


@pytest.mark.parametrize(
    ("built", "device", "outcome"),
    [
        ("gfx942", "gfx942:sramecc+:xnack-", "hipSuccess"),
        ("gfx942:xnack-", "gfx942:sramecc+:xnack-", "hipSuccess"),
        ("gfx942:xnack+", "gfx942:sramecc+:xnack-", "hipErrorNoBinaryForGpu"),
        ("gfx90a", "gfx942:sramecc+:xnack-", "hipErrorNoBinaryForGpu"),
        ("gfx1100", "gfx1100", "hipSuccess"),
        ("gfx1100", "gfx1151", "hipErrorNoBinaryForGpu"),
    ],
)
def test_a_module_runs_on_its_own_architecture(standin, code_object, built, device, outcome):
    assert standin.call(_loaded, code_object(built), None, arch=device) == outcome


@pytest.mark.parametrize("size", [0, 3, 63, 64, 4000])
def test_a_part_of_an_image_is_none(standin, code_object, size):
    assert standin.call(_loaded, code_object("gfx942"), size) == "hipErrorInvalidImage"


def test_symbols_are_found_by_name(standin, code_object):
    assert standin.call(_symbols, code_object("gfx942")) == {
        "numbers": ["hipSuccess", [17, 0, 0, 256]],
        "no global": "hipErrorNotFound",
        "no kernel": "hipErrorNotFound",
    }


@pytest.mark.parametrize("by_pointers", [False, True])
@pytest.mark.parametrize("built", ARCHITECTURES)
def test_a_kernel_runs(standin, code_object, built, by_pointers):
    arch = ARCHITECTURES[built]
    error, out = standin.call(_added, code_object(built), 250, by_pointers, arch=arch)
    assert error == "hipSuccess"
    assert out == [*range(1000, 1500, 2), 77]


def test_streams_keep_order_and_only_events_bind_them(standin, code_object):
    assert standin.call(_ordered, code_object("gfx942")) == {
        "shut": ["hipErrorNotReady"] * 2,
        "open": ["hipSuccess"] * 2,
        "ends": ["hipSuccess"] * 2,
        "passed": 1,
        "in order": True,
    }


def test_memory_is_freed_when_nothing_runs_any_more(standin, code_object):
    found = standin.call(_freed_at_a_gate, code_object("gfx942"))
    assert found == [False, "hipErrorInvalidDevicePointer"]


def test_a_kernel_that_leaves_its_memory_fails_its_stream(standin, code_object):
    assert standin.call(_failed, code_object("gfx942"), "write", 4096, 1) == {
        "launch": "hipSuccess",
        "end": "hipErrorLaunchFailure",
        "event": "hipErrorLaunchFailure",
        "next": "hipErrorLaunchFailure",
        "other stream": "hipSuccess",
    }


def test_a_kernel_that_does_not_end_fails_at_its_limit(standin, code_object):
    found = standin.call(_stuck, code_object("gfx942"), instructions=10_000)
    assert found == "hipErrorLaunchFailure"
