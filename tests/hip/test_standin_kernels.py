"""The stand-in loads code objects and runs their kernels as HIP does, each in its stream."""

from __future__ import annotations

import ctypes
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.amdgpu import machine
from tests.hip.inside import Bench, bindings, take

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
    if missing := machine.missing_tools():
        pytest.skip(f"not installed: {', '.join(missing)}")
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


def _loaded(path: str, size: int | None) -> str:
    hip = bindings()
    image = Path(path).read_bytes()[:size]
    # What lies behind a shorter image is not part of it.
    return str(hip.hipModuleLoadData(image + bytes(1 << 20))[0].name)


def _symbols(path: str) -> Any:
    bench = Bench(path)
    hip = bench.hip
    target, seen = bench.pinned(16)
    address, size = take(hip.hipModuleGetGlobal(bench.module, b"numbers"))
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
    bench = Bench(path)
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
    bench = Bench(path)
    hip = bench.hip
    gate, _ = bench.pinned(8)
    opened, passed = (ctypes.c_uint32.from_address(gate + 4 * i) for i in range(2))
    opened.value = passed.value = 0
    bench.launch("gate", ctypes.c_uint64(gate), ctypes.c_uint64(gate + 4))
    behind, follower, free = bench.record(), bench.new_stream(), bench.new_stream()
    take(hip.hipStreamWaitEvent(follower, behind, 0))
    following, unrelated = bench.record(follower), bench.record(free)
    take(hip.hipEventSynchronize(unrelated))
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
    bench = Bench(path)
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
    bench = Bench(path)
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
    bench = Bench(path)
    gate, words = bench.pinned(8)
    words[:] = [0, 0]
    bench.launch("gate", ctypes.c_uint64(gate), ctypes.c_uint64(gate + 4))
    return bench.synchronize()


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
