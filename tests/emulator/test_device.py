"""`Emulator` as a controller for the runtime: options, limits, queues, its end."""

from __future__ import annotations

import ctypes
import gc
import os
import struct
import threading
from pathlib import Path
from typing import Any

import pytest

from xiokv.runtime.controller import Limits, Rings
from xiokv.runtime.emulator import Emulator, FaultKind, StatusFault, library
from xiokv.runtime.errors import ArgumentFault, ExitCode, MissingFault, RuntimeFault

CORE = min(os.sched_getaffinity(0))


def rings(host: Any, depth: int = 16) -> Rings:
    return Rings(host.sq.address, host.cq.address, depth, depth)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"queues": 0}, "queues is 0"),
        ({"queues": 65535}, "queues is 65535; allowed are 1 to 65534"),
        ({"mqes": 65536}, "mqes is 65536; allowed are 1 to 65535"),
        ({"mdts": 21}, "mdts is 21; allowed are 0 to 20"),
        ({"dstrd": 16}, "dstrd is 16; allowed are 0 to 15"),
        ({"key_max": 256}, "key_max is 256; allowed are 1 to 255"),
        ({"value_max": 2**32}, "value_max is 4294967296"),
        ({"capacity": 0}, "capacity is 0"),
        ({"active_format": 16}, "active_format is 16; allowed are 0 to 15"),
        ({"threads": 65}, "threads is 65; allowed are 0 to 64"),
        ({"threads": -1}, "threads is -1"),
        ({"cpus": [CORE, CORE]}, r"each of 2 threads needs a core that no other has"),
        ({"cpus": [CORE], "threads": 2}, r"each of 2 threads needs a core that no other has"),
        ({"cpus": [60000]}, r"cpus is \[60000\]; the cores of this process are"),
        ({"cpus": ["all"]}, "cpus is 'all'; allowed is an integer"),
        ({"seed": -1}, "seed is -1"),
        ({"queues": 1.5}, "queues is 1.5; allowed is an integer"),
        ({"distinct_dw0": True}, "null mode"),
        ({"store": "tape"}, "store is 'tape'; allowed are: memory"),
    ],
)
def test_an_option_out_of_its_limits_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentFault, match=message):
        Emulator(**options)


def test_structures_of_another_size_are_refused(host: Any) -> None:
    functions = library.load()
    config, fault = library.Config(), library.Fault(kind=FaultKind.DROP)
    config.struct_size -= 8
    fault.struct_size -= 8
    error = ctypes.create_string_buffer(100)

    assert functions.xiokv_emu_create(config, error, len(error)) is None
    assert b"struct_size is 184; this controller was compiled for 192" in error.value
    assert functions.xiokv_emu_fault(host.emulator._handle, fault) == -1


def test_limits_are_those_of_the_format_in_force(make: Any) -> None:
    host = make(key_max=12, value_max=1 << 20, active_format=3, mdts=5, mqes=99, queues=7)

    assert host.emulator.limits(1) == Limits(
        key_max=12,
        value_max=1 << 20,
        transfer_max=32 * 4096,
        entries_max=100,
        queues_max=7,
        page_bytes=4096,
    )


def test_limits_without_mdts_and_with_long_keys(make: Any) -> None:
    limits = make(key_max=255).emulator.limits(1)

    assert (limits.key_max, limits.transfer_max, limits.value_max) == (16, 0, 32 << 20)


@pytest.mark.parametrize("nsid", [0, 2, 0xFFFFFFFF])
def test_another_namespace_has_no_limits(host: Any, nsid: int) -> None:
    with pytest.raises(StatusFault, match=f"NSID {nsid}.*invalid namespace"):
        host.emulator.limits(nsid)


@pytest.mark.parametrize("qid", [-1, 1 << 32, "1", True])
@pytest.mark.parametrize("call", ["kill", "step"])
def test_what_is_no_number_of_a_queue_is_refused(host: Any, call: str, qid: Any) -> None:
    with pytest.raises(ArgumentFault, match=f"qid is {qid!r}; allowed"):
        getattr(host.emulator, call)(qid)
    assert host.run(host.sqe(0x14, b"k", cid=5)).cid == 5


class Device:
    """As much of a driver as a controller connects to."""

    def __init__(self) -> None:
        self.hook = library.DmaHook(
            0,
            library.DmaRead(lambda *_: self.note("read")),
            library.DmaWrite(lambda *_: self.note("write")),
        )
        self.calls: list[str] = []

    def note(self, name: str) -> int:
        self.calls.append(name)
        return 0

    def dma_hook(self) -> library.DmaHook:
        return self.hook

    def register(self, address: int, size: int) -> int:
        return address

    def unregister(self, address: int) -> None:
        pass


def identify(emulator: Emulator) -> None:
    emulator.admin(struct.pack("<B23xQ8xI20x", 0x06, 1 << 16, 0x01))


def test_memory_is_reached_as_the_driver_that_connected_last_wants() -> None:
    emulator = Emulator(threads=0)
    one, other = Device(), Device()
    for device in (one, other, one):
        emulator.connect(device)
        device.calls.clear()
        identify(emulator)
        assert device.calls


def test_what_reaches_memory_is_not_exchanged_beneath_queues(host: Any) -> None:
    device = Device()
    with pytest.raises(ArgumentFault, match="close what is attached first"):
        host.emulator.connect(device)
    host.emulator.reset()
    host.emulator.connect(device)


def test_what_is_no_dma_hook_is_refused(make: Any) -> None:
    emulator = make().emulator
    emulator.reset()
    with pytest.raises(ArgumentFault, match="a DMA hook needs read and write"):
        emulator.set_dma(5)


@pytest.mark.parametrize("dstrd", [0, 3])
def test_a_created_queue_works_by_its_doorbells(make: Any, dstrd: int) -> None:
    host = make(dstrd=dstrd)
    host.emulator.reset()
    host.emulator.create_queue(rings(type(host)(host.emulator)))
    created = host.emulator.create_queue(rings(host))
    host.qid = created.qid
    host.sq_doorbell = ctypes.c_uint32.from_address(created.sq_doorbell)
    host.cq_doorbell = ctypes.c_uint32.from_address(created.cq_doorbell)

    assert created.qid == 2
    assert host.run(host.sqe(0x14, b"k", cid=5)).cid == 5


def test_numbers_of_deleted_queues_are_used_again(make: Any) -> None:
    emulator, host = make(queues=2).emulator, make()
    emulator.reset()
    assert [emulator.create_queue(rings(host)).qid for _ in range(2)] == [1, 2]
    with pytest.raises(ArgumentFault, match="all 2 queue pairs are taken"):
        emulator.create_queue(rings(host))
    emulator.delete_queue(1)

    assert emulator.create_queue(rings(host)).qid == 1


def test_a_queue_lost_to_a_reset_is_deleted_without_harm(host: Any) -> None:
    emulator = host.emulator
    emulator.reset()
    old = emulator.create_queue(rings(host)).qid
    emulator.reset()
    new = emulator.create_queue(rings(host)).qid
    emulator.delete_queue(old)

    assert new != old
    emulator.delete_queue(new)
    with pytest.raises(ArgumentFault, match="never created"):
        emulator.delete_queue(new)


def test_a_queue_that_is_too_deep_leaves_nothing_behind(make: Any) -> None:
    host = make(mqes=20)
    host.emulator.reset()
    with pytest.raises(StatusFault, match=r"of 22 entries: SCT 1, SC 02h \(invalid queue size\)"):
        host.emulator.create_queue(Rings(host.sq.address, host.cq.address, 22, 16))

    assert host.emulator.create_queue(rings(host)).qid == 1


def test_entry_starts_the_threads(host: Any, wait_until: Any) -> None:
    with Emulator() as emulator:
        other = type(host)(emulator).create()
        other.submit(other.sqe(0x14, b"k", cid=5))
        wait_until(lambda: other.peek() is not None)
    assert other.take()[0].cid == 5


def test_a_closed_controller_says_so() -> None:
    emulator = Emulator()
    emulator.close()
    emulator.close()

    with pytest.raises(RuntimeFault, match="closed"):
        emulator.counters()


def test_a_late_host_may_still_write_to_a_doorbell(host: Any) -> None:
    with Emulator() as emulator:
        other = type(host)(emulator).create()
    other.submit(other.sqe(0x14, b"k", cid=5))

    assert other.peek() is None


def test_a_queue_is_deleted_without_harm_after_the_end(host: Any) -> None:
    with Emulator() as emulator:
        created = emulator.create_queue(rings(host))
    emulator.delete_queue(created.qid)


def test_start_and_stop_may_be_repeated(host: Any) -> None:
    for _ in range(2):
        host.emulator.start()
        host.emulator.start()
        host.emulator.stop()
        host.emulator.stop()

    assert host.run(host.sqe(0x14, b"k", cid=5)).cid == 5


def test_a_forgotten_controller_ends_its_threads(host: Any) -> None:
    before = len(system_threads())
    emulator = Emulator(threads=3)
    emulator.start()
    assert len(system_threads()) == before + 3
    del emulator
    gc.collect()

    assert len(system_threads()) == before


def test_a_pinned_thread_stays_on_its_core_and_serves(host: Any, wait_until: Any) -> None:
    before = set(system_threads())
    with Emulator(cpus=[CORE]) as emulator:
        (thread,) = set(system_threads()) - before
        assert os.sched_getaffinity(int(thread)) == {CORE}
        other = type(host)(emulator).create()
        other.submit(other.sqe(0x14, b"k", cid=5))
        wait_until(lambda: other.peek() is not None)
    assert other.take()[0].cid == 5


def test_a_core_that_is_not_there_starts_no_thread(host: Any) -> None:
    before = len(system_threads())
    functions = library.load()
    config = library.Config(flags=1 << 9, cpus=(1023,))
    handle = functions.xiokv_emu_create(config, None, 0)
    assert functions.xiokv_emu_start(handle) == -1
    functions.xiokv_emu_destroy(handle)

    assert len(system_threads()) == before


def system_threads() -> list[str]:
    """Return the system's numbers of this process's threads."""
    return [path.name for path in Path("/proc/self/task").iterdir()]


def test_an_entry_has_64_bytes(host: Any) -> None:
    with pytest.raises(ArgumentFault, match="has 64 bytes, this has 63"):
        host.emulator.admin(bytes(63))


def test_a_missing_compiler_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    library.load.cache_clear()
    with pytest.raises(MissingFault) as caught:
        Emulator()
    library.load.cache_clear()

    assert "install one" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == ExitCode.MISSING


def test_every_source_decides_whether_the_library_is_current() -> None:
    sources = library.recipe().sources
    present = {
        path.relative_to(sources.root).as_posix()
        for folder in ("runtime/emulator", "runtime/nvme", "runtime/capi", "generated/include")
        for path in (sources.root / folder).rglob("*")
        if path.suffix in {".cpp", ".h", ".map"}
    }

    assert set(sources.read) == present


def test_calls_of_many_threads_do_not_disturb_each_other(host: Any) -> None:
    host.emulator.start()
    results: list[int] = []

    def ask() -> None:
        results.extend(host.emulator.limits(1).key_max for _ in range(50))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert results == [16] * 200
