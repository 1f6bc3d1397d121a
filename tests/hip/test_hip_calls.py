"""The calls on the hip driver: the stand-in runs the code objects, the controller answers.

What follows up to the tests runs in processes that have the stand-in, and returns what was
seen there.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.tool import TOOL

GENERATED = Path(__file__).resolve().parents[2] / "generated"

WAVE64, WAVE32 = "gfx942:sramecc+:xnack-", "gfx1100"

KEYS = [b"a", b"key", b"sixteen bytes ok"]
BLOCK = 64
BLOCKS = bytes(range(3 * BLOCK))


@contextmanager
def attached(controller: dict[str, Any] | None = None, **options: Any) -> Iterator[Any]:
    from xiokv.runtime import Emulator, load

    module = load("hip")
    chosen = {"depth": 16, "window": 15, "block_size": BLOCK, "timeout": 20.0, **options}
    with Emulator(**(controller or {})) as emulator, module.attach(emulator, **chosen) as kv:
        yield module, emulator, kv


def filled(module: Any, content: bytes = BLOCKS) -> Any:
    """Return a buffer in the device with some bytes."""
    buffer = module.empty(len(content))
    buffer.view[:] = list(content)
    buffer.upload()
    return buffer


def bytes_of(buffer: Any) -> bytes:
    buffer.download()
    return bytes(buffer.view)


def names(result: Any) -> list[str]:
    from xiokv.runtime import Outcome

    return [Outcome(outcome).name for outcome in result.status]


def run_all_commands(place: str, options: dict[str, Any]) -> dict[str, Any]:
    from xiokv.runtime import Place

    with attached(**options) as (module, _, kv):
        given, out = (module.empty(len(BLOCKS), place=Place[place]) for _ in range(2))
        given.view[:] = list(BLOCKS)
        given.upload()
        seen = {
            "missing": names(kv.exist(KEYS)),
            "store": names(kv.store(KEYS, given)),
            "again": names(kv.store(KEYS, given, if_absent=True)),
            "exist": names(kv.exist(KEYS)),
            "list": sorted(key.decode() for key in kv.list()),
            "retrieve": names(kv.retrieve(KEYS, out)),
            "delete": names(kv.delete(KEYS[:1])),
            "gone": names(kv.retrieve(KEYS, module.empty(len(BLOCKS), place=Place[place]))),
        }
        return {**seen, "same": bytes_of(out) == BLOCKS}


def order_foreign_work() -> dict[str, Any]:
    """Put copies of hip-python's own before and after batches, behind a kernel that waits."""
    from hip import hip

    from xiokv.runtime import Emulator, Place

    _, stream = hip.hipStreamCreateWithFlags(hip.hipStreamNonBlocking)
    with attached() as (module, _, kv), Emulator(threads=0) as frozen:
        source, target = (module.empty(len(BLOCKS), place=Place.HOST) for _ in range(2))
        source.view[:] = list(BLOCKS)
        given, out = (module.empty(len(BLOCKS)) for _ in range(2))
        kind = hip.hipMemcpyKind.hipMemcpyDefault
        with module.attach(frozen, depth=4, block_size=BLOCK, timeout=60.0) as gate:
            waiting = gate.exist([b"x"], stream=stream)
            hip.hipMemcpyAsync(given.iova, source.iova, len(BLOCKS), kind, stream)
            stored = kv.store(KEYS, given, stream=int(stream))
            taken = kv.retrieve(KEYS, out, stream=stream)
            hip.hipMemcpyAsync(target.iova, out.iova, len(BLOCKS), kind, stream)
            early = [stored.wait(0.2), taken.done, bool(target.view.any())]
            frozen.start()
            waiting.raise_for_status()
            hip.hipStreamSynchronize(stream)
            late = [stored.done, taken.done, bytes(target.view) == BLOCKS]
        taken.raise_for_status()
        return {"early": early, "late": late}


def log_of_a_batch(log: str) -> list[str]:
    """Return the names of HIP's calls from a call of ours to the end of its batch."""
    with attached() as (module, _, kv), module.stream() as stream:
        keys = [b"%d" % i for i in range(300)]
        buffer = module.empty(len(keys) * BLOCK)
        kv.store(keys, buffer).raise_for_status()
        before = len(Path(log).read_text().splitlines())
        kv.retrieve(keys, buffer, stream=stream).raise_for_status()
        lines = Path(log).read_text().splitlines()[before:]
        return sorted({line.split()[0] for line in lines})


def take_over(place: str) -> dict[str, Any]:
    """Drive a queue that something else made, hand it back, and take it over once more."""
    from xiokv.runtime import Emulator, Place, QueuePair, load
    from xiokv.runtime.controller import Rings

    module, depth = load("hip"), 8
    rings = [module.empty(4096, place=Place[place]) for _ in range(2)]
    with Emulator() as controller:
        controller.connect(module.driver)
        made = controller.create_queue(Rings(rings[0].iova, rings[1].iova, depth, depth))
        state = {"tail": 0, "head": 0, "phase": 1}
        rounds = []
        for count in (5, 7):
            pair = QueuePair.from_pointers(
                sq=rings[0].iova,
                cq=rings[1].iova,
                sq_doorbell=made.sq_doorbell,
                cq_doorbell=made.cq_doorbell,
                qid=made.qid,
                sq_depth=depth,
                cq_depth=depth,
                nsid=1,
                limits=controller.limits(1),
                max_transfer=4096,
                **state,
            )
            with module.attach(None, queues=[pair]) as kv:
                kv.store([b"%d" % i for i in range(count)], [b"1234"] * count).raise_for_status()
            state = dict(pair.release())
            rounds.append(state)
        controller.delete_queue(made.qid)
        return {"rounds": rounds, "keys": controller.counters().keys}


def use_hip_pythons_array() -> dict[str, Any]:
    """Give memory as hip-python allocates it, in this device and in another."""
    from hip import hip

    from xiokv.runtime import ArgumentFault

    with attached() as (_, _, kv):
        _, array = hip.hipMalloc(len(BLOCKS))
        kinds = hip.hipMemcpyKind
        hip.hipMemcpy(array, BLOCKS, len(BLOCKS), kinds.hipMemcpyHostToDevice)
        kv.store(KEYS, array).raise_for_status()
        hip.hipMemcpy(array, bytes(len(BLOCKS)), len(BLOCKS), kinds.hipMemcpyHostToDevice)
        kv.retrieve(KEYS, array).raise_for_status()
        back = bytearray(len(BLOCKS))
        hip.hipMemcpy(back, array, len(BLOCKS), kinds.hipMemcpyDeviceToHost)
        hip.hipSetDevice(1)
        _, strange = hip.hipMalloc(len(BLOCKS))
        try:
            kv.store(KEYS, strange)
        except ArgumentFault as fault:
            said = str(fault)
        return {"same": back == BLOCKS, "said": said, "device": hip.hipGetDevice()[1]}


def fail_a_kernel() -> dict[str, Any]:
    from xiokv.runtime import LostFault

    with attached() as (_, _, kv):
        try:
            kv.exist(KEYS)
        except LostFault as fault:
            return {"said": str(fault), "states": [pair.state.name for pair in kv.queues]}
        return {"said": "success", "states": []}


# The tests.


@pytest.fixture(scope="module", autouse=True)
def _surroundings(own_surroundings: None) -> None:
    """Work in the checkout's own surroundings, with code for each device in its cache."""
    from xiokv.runtime import toolchain

    if shutil.which("clang-19") is None:
        pytest.skip("clang-19 is not installed: apt-get install clang-19 lld-19")
    for arch in (WAVE64, WAVE32):
        chosen = (arch.split(":")[0],)
        toolchain.build_cached(toolchain.recipe("hip", GENERATED, version("xiokv"), chosen))


ALL_COMMANDS = {
    "missing": ["MISSING"] * 3,
    "store": ["OK"] * 3,
    "again": ["EXISTS"] * 3,
    "exist": ["OK"] * 3,
    "list": ["a", "key", "sixteen bytes ok"],
    "retrieve": ["OK"] * 3,
    "delete": ["OK"],
    "gone": ["MISSING", "OK", "OK"],
    "same": True,
}


@pytest.mark.parametrize("arch", [WAVE64, WAVE32])
@pytest.mark.parametrize("seed", [1, 2])
def test_every_command_works_on_weak_memory(standin: Any, arch: str, seed: int) -> None:
    options = {"queues": 2, "memory_mode": 3}
    found = standin.call(run_all_commands, "DEVICE", options, arch=arch, weak=1, seed=seed)
    assert found == ALL_COMMANDS


@pytest.mark.parametrize("mode", [1, 2, 3, 11])
def test_every_command_works_wherever_the_rings_lie(standin: Any, mode: int) -> None:
    assert standin.call(run_all_commands, "DEVICE", {"memory_mode": mode}) == ALL_COMMANDS


def test_the_device_may_have_addresses_of_its_own_for_host_memory(standin: Any) -> None:
    options = {"queues": 2}
    assert standin.call(run_all_commands, "HOST", options, two_addresses=1) == ALL_COMMANDS


def test_work_in_the_callers_stream_stays_before_and_after(standin: Any) -> None:
    assert standin.call(order_foreign_work) == {
        "early": [False, False, False],
        "late": [True, True, True],
    }


def test_a_batch_neither_synchronizes_nor_allocates(standin: Any, tmp_path: Path) -> None:
    log = tmp_path / "calls"
    assert set(standin.call(log_of_a_batch, str(log), log=log)) <= {
        "hipEventCreateWithFlags",
        "hipEventDestroy",
        "hipEventQuery",
        "hipEventRecord",
        "hipGetDevice",
        "hipMemcpyAsync",
        "hipModuleLaunchKernel",
        "hipPointerGetAttributes",
        "hipStreamWaitEvent",
    }


@pytest.mark.parametrize("place", ["HOST", "DEVICE"])
def test_a_queue_of_something_else_is_driven_and_handed_back(standin: Any, place: str) -> None:
    assert standin.call(take_over, place) == {
        "rounds": [{"tail": 5, "head": 5, "phase": 1}, {"tail": 4, "head": 4, "phase": 0}],
        "keys": 7,
    }


def test_arrays_of_hip_python_are_taken_and_those_of_another_device_refused(standin: Any) -> None:
    assert standin.call(use_hip_pythons_array, devices=2) == {
        "same": True,
        "said": "values is on device 1, the module on device 0",
        "device": 1,
    }


def test_a_kernel_that_failed_is_no_success(standin: Any) -> None:
    seen = standin.call(fail_a_kernel, instructions=200)
    assert seen["states"] == ["DEAD"]
    assert "failed on its device: hipEventQuery: hipErrorLaunchFailure (719)" in seen["said"]


def test_verify_finds_every_byte_right(standin: Any) -> None:
    some = ("--sizes", "511,4KiB", "--count", "6", "--queues", "2", "--depth", "8")
    done = standin.run(*TOOL, "verify", "--target", "hip", *some)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("all right\n")
