"""What fails and comes back: OSDs, monitors, pools, the client and the controller itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xiokv.runtime import DeadQueueFault, Emulator, Outcome, RuntimeFault

from . import acknowledged
from .cluster import Cluster
from .hosts import (
    COMMANDS,
    CUT_OFF,
    FULL,
    GONE,
    MISSING,
    NOTHING,
    OK,
    UNREACHABLE,
    Host,
    Said,
    at_last,
    host,
    keys_of,
    said,
    took,
    values_of,
)

pytestmark = pytest.mark.slow

WRITER = Path(__file__).with_name("writer.py")

# Of two queues, 127 commands each: what is in flight at once.
WINDOW = 254
MANY = range(6000)


def all_say(status: tuple[int, int], keys: int) -> dict[str, Said]:
    """Return what every command says of so many keys if it says one thing."""
    return {name: Counter({status: keys if name != "list" else 1}) for name in COMMANDS}


@contextmanager
def frozen(cluster: Cluster, daemon: str = "osd") -> Iterator[None]:
    """Stop a daemon's process at once; within the `with` it may be ended, or go on."""
    pid = cluster.pid(daemon)
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def stored(cluster: Cluster, namespace: str, number: int) -> bytes:
    (key,) = keys_of(range(number, number + 1))
    return cluster.rados("get", key.hex(), "-", namespace=namespace)


# The OSD.


@pytest.fixture
def lasting_cluster(make_cluster: Callable[..., Cluster]) -> Cluster:
    """Return a cluster whose OSD may be killed."""
    return make_cluster("bluestore")


@pytest.mark.parametrize(
    ("which", "end"), [("harmed_cluster", "stop_osd"), ("lasting_cluster", "kill_osd")]
)
def test_an_osd_that_is_back_before_the_deadline_costs_no_key(
    module: Any, request: pytest.FixtureRequest, namespace: str, which: str, end: str
) -> None:
    cluster = request.getfixturevalue(which)
    url = cluster.url(namespace=namespace, timeout=100)
    old, new = range(800), range(800, 2800)
    with (
        host(module, url, queues=3, timeout=120) as one,
        module.attach(one.controller, queues=2, depth=128, timeout=120) as reader,
    ):
        one.kv.store(keys_of(old), values_of(old)).raise_for_status()
        out = np.zeros((len(old), 1024), np.uint8)
        stores = one.begin(one.kv.store, keys_of(new), values_of(new))
        retrieves = one.begin(reader.retrieve, keys_of(old), out)
        one.wait_for(300)
        with frozen(cluster):
            getattr(cluster, end)()
        assert not stores.done()
        assert not retrieves.done()
        cluster.start_osd()
        assert said(stores.result(120)) == {OK: len(new)}
        assert said(retrieves.result(120)) == {OK: len(old)}
        assert (out == values_of(old)).all()
    with host(module, url) as another:
        back = np.zeros((len(new), 1024), np.uint8)
        another.kv.retrieve(keys_of(new), back).raise_for_status()
        assert (back == values_of(new)).all()


@pytest.mark.parametrize("timeout", [1, 4, 9])
def test_an_osd_that_crashed_and_is_back_at_once_is_found(
    module: Any, lasting_cluster: Cluster, namespace: str, timeout: int
) -> None:
    # The monitor has yet to miss it: clients learn of its new place only by asking.
    url = lasting_cluster.url(namespace=namespace, timeout=timeout)
    with host(module, url, timeout=20) as one:
        one.kv.store(keys_of(range(30)), values_of(range(30))).raise_for_status()
        lasting_cluster.kill_osd()
        lasting_cluster.start_osd()
        at_last(lambda: said(one.kv.exist(keys_of(range(30)))), Counter({OK: 30}))


def test_a_key_says_that_its_deadline_passed_and_the_batch_goes_on_with_the_osd(
    module: Any, harmed_cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    cluster = harmed_cluster
    values = values_of(MANY)
    changes = [(key, value.tobytes()) for key, value in zip(keys_of(MANY), values, strict=True)]
    journal = acknowledged.Journal(tmp_path / "journal")
    with host(module, cluster.url(namespace=namespace, timeout=0.5)) as one:
        journal.intend(changes)
        stores = one.begin(one.kv.store, keys_of(MANY), values)
        one.wait_for(500)
        with frozen(cluster):
            one.wait_for(WINDOW)  # they fail, with nobody to carry them out
            cluster.stop_osd()
            cluster.start_osd()
        result = stores.result(60)
        counts = said(result)
        assert set(counts) == {OK, UNREACHABLE}
        assert counts[UNREACHABLE] >= WINDOW
        done = result.status == Outcome.OK
        journal.acknowledge([change for change, ok in zip(changes, done, strict=True) if ok])

        # The same controller, the same queues.
        few = range(100)
        at_last(lambda: said(one.kv.store(keys_of(few), values[:100])), Counter({OK: 100}))
    journal.close()
    with host(module, cluster.url(namespace=namespace, timeout=30)) as patient:
        complaints, certain = acknowledged.check(tmp_path / "journal", reader(patient))
        assert complaints == []
        assert certain == counts[OK]
        patient.kv.store(keys_of(MANY), values).raise_for_status()
    assert stored(cluster, namespace, 5000) == values[5000].tobytes()


def reader(one: Host) -> Callable[[Sequence[bytes]], list[bytes | None]]:
    """Return a function that retrieves values of any size up to 64 KiB."""

    def read(keys: Sequence[bytes]) -> list[bytes | None]:
        out = np.zeros((len(keys), 1 << 16), np.uint8)
        result = one.kv.retrieve(keys, out)
        assert set(said(result)) <= {OK, MISSING}, result
        sizes = result.value_size
        there = result.status == Outcome.OK
        return [out[i, : sizes[i]].tobytes() if there[i] else None for i in range(len(keys))]

    return read


def test_every_command_ends_at_its_deadline_while_no_osd_is_there(
    module: Any, harmed_cluster: Cluster, namespace: str
) -> None:
    numbers = range(WINDOW)
    patient_url = harmed_cluster.url(namespace=namespace, timeout=30)
    with (
        host(module, patient_url) as patient,
        host(module, harmed_cluster.url(namespace=namespace, timeout=0.5)) as one,
    ):
        patient.kv.store(keys_of(numbers), values_of(numbers)).raise_for_status()
        one.kv.exist(keys_of(numbers))  # the client is told that its OSD stops
        harmed_cluster.stop_osd()
        with took(5 * 0.5, 5 * 0.5):
            heard = one.every_command(keys_of(numbers))
        assert heard == all_say(UNREACHABLE, WINDOW)
        harmed_cluster.start_osd()
        # None of those that failed before the OSD had them is carried out later.
        out = np.zeros((WINDOW, 1024), np.uint8)
        patient.kv.retrieve(keys_of(numbers), out).raise_for_status()
        assert (out == values_of(numbers)).all()
        for command, wanted in all_say(OK, WINDOW).items():
            at_last(partial(one.say, command, keys_of(numbers)), wanted)


def test_a_pause_shorter_than_the_deadline_costs_time_alone(
    module: Any, cluster: Cluster, namespace: str
) -> None:
    numbers = range(1000)
    with host(module, cluster.url(namespace=namespace, timeout=30)) as one:
        with frozen(cluster):
            stores = one.begin(one.kv.store, keys_of(numbers), values_of(numbers))
            time.sleep(0.5)
            assert one.controller.counters().completions == 0
        assert said(stores.result(30)) == {OK: len(numbers)}


def test_a_pause_longer_than_the_deadline_ends_every_command_that_waits(
    module: Any, cluster: Cluster, namespace: str
) -> None:
    numbers = range(WINDOW)
    keys = keys_of(numbers)
    with host(module, cluster.url(namespace=namespace, timeout=0.5)) as one:
        at_last(partial(one.say, "store", keys), Counter({OK: WINDOW}))
        with frozen(cluster), took(5 * 0.5, 5 * 0.5):
            heard = one.every_command(keys_of(numbers))
        assert heard == all_say(UNREACHABLE, WINDOW)
        # What was sent is carried out by an OSD that goes on: a Store, and after it a Delete.
        at_last(partial(one.say, "exist", keys), Counter({MISSING: WINDOW}))
        at_last(partial(one.say, "store", keys), Counter({OK: WINDOW}))


# Listings, which have a thread.


def test_listings_that_nobody_answers_end_together_and_later_ones_are_answered(
    module: Any, cluster: Cluster, namespace: str
) -> None:
    with ExitStack() as stack:
        one = stack.enter_context(host(module, cluster.url(namespace=namespace, timeout=1)))
        at_last(partial(one.say, "store", keys_of(range(3))), Counter({OK: 3}))
        others = [
            stack.enter_context(module.attach(one.controller, depth=4, timeout=60))
            for _ in range(8)
        ]
        with frozen(cluster), took(1, 1):
            lists = [one.begin(Host(one.controller, kv, one.threads).listed) for kv in others]
            assert [future.result(20) for future in lists] == [{UNREACHABLE: 1}] * 8
        at_last(one.listed, Counter([OK]))
        assert sorted(one.kv.list()) == keys_of(range(3))


# The monitor.


@pytest.mark.parametrize("harm", ["frozen", "stopped"])
def test_without_a_monitor_no_controller_is_made(harmed_cluster: Cluster, harm: str) -> None:
    url = harmed_cluster.url(connect_timeout=1)
    with ExitStack() as stack:
        if harm == "frozen":
            stack.enter_context(frozen(harmed_cluster, "mon"))
        else:
            harmed_cluster.stop_mon()
        with took(1, 1), pytest.raises(RuntimeFault) as fault:
            Emulator(store=url)
    assert str(fault.value) == (
        "store xiokv/: cannot reach the cluster as client.admin within 1 s: Connection timed out"
    )


def test_values_come_and_go_without_a_monitor(
    module: Any, harmed_cluster: Cluster, namespace: str
) -> None:
    with host(module, harmed_cluster.url(namespace=namespace, timeout=5)) as one:
        stores = one.begin(one.kv.store, keys_of(MANY), values_of(MANY))
        one.wait_for(500)
        os.kill(harmed_cluster.pid("mon"), signal.SIGSTOP)
        assert not stores.done()
        harmed_cluster.kill_mon()
        assert said(stores.result(60)) == {OK: len(MANY)}
        few = range(100)
        out = np.zeros((len(few), 1024), np.uint8)
        assert said(one.kv.retrieve(keys_of(few), out)) == {OK: len(few)}
        assert (out == values_of(few)).all()
        # A key that is not there needs no monitor either.
        with took(0, 0):
            assert said(one.kv.retrieve([b"nobody"] * 20, out[:20])) == {MISSING: 20}
            assert said(one.kv.exist([b"nobody"] * 20)) == {MISSING: 20}
        assert one.listed() == {OK: 1}
        with took(0, 0):
            other = module.attach(one.controller, depth=8)
            assert said(other.exist(keys_of(few))) == {OK: len(few)}
            other.close()
            one.kv.close()
            one.controller.close()


# Pools.


def test_a_full_pool_takes_no_value_until_there_is_room(
    module: Any, harmed_cluster: Cluster, namespace: str
) -> None:
    old, new = range(100), range(100, 400)
    with host(module, harmed_cluster.url(namespace=namespace, timeout=5)) as one:
        one.kv.store(keys_of(old), values_of(old)).raise_for_status()
        harmed_cluster.set_full()
        with took(0, 0):
            assert said(one.kv.store(keys_of(new), values_of(new))) == {FULL: len(new)}
        out = np.zeros((len(old), 1024), np.uint8)
        one.kv.retrieve(keys_of(old), out).raise_for_status()
        assert (out == values_of(old)).all()
        assert said(one.kv.delete(keys_of(old)[:50])) == {OK: 50}
        assert sorted(one.kv.list()) == keys_of(old)[50:]
        harmed_cluster.clear_full()
        one.kv.store(keys_of(new), values_of(new)).raise_for_status()
        assert said(one.kv.exist(keys_of(new))) == {OK: len(new)}


def test_a_pool_that_is_deleted_is_gone_for_every_command(
    module: Any, cluster: Cluster, namespace: str
) -> None:
    pool = cluster.make_pool()
    with host(module, cluster.url(pool=pool, namespace=namespace, timeout=20)) as one:
        stores = one.begin(one.kv.store, keys_of(MANY), values_of(MANY))
        one.wait_for(100)
        with frozen(cluster):
            cluster.delete_pool(pool)
            assert not stores.done()
        counts = said(stores.result(30))
        assert set(counts) <= {OK, GONE}
        with took(0, 0):
            heard = one.every_command(keys_of(range(500)))
        assert heard == all_say(GONE, 500)
    with pytest.raises(RuntimeFault, match=f"the cluster has no pool {pool}; make it"):
        Emulator(store=cluster.url(pool=pool))


def test_a_pool_that_is_gone_is_asked_of_no_monitor(
    module: Any, harmed_cluster: Cluster, namespace: str
) -> None:
    pool = harmed_cluster.make_pool()
    url = harmed_cluster.url(pool=pool, namespace=namespace, timeout=1)
    with host(module, url) as one:
        at_last(partial(one.say, "store", keys_of(range(10))), Counter({OK: 10}))
        harmed_cluster.delete_pool(pool)
        at_last(partial(one.say, "exist", keys_of(range(10))), Counter({GONE: 10}))
        with frozen(harmed_cluster, "mon"), took(0, 5 * 1):
            # Nobody says that a newer map has no such pool: some wait for it in vain.
            for counts in one.every_command(keys_of(range(WINDOW))).values():
                assert set(counts) <= {GONE, UNREACHABLE}


# The client.


def test_a_client_that_is_shut_out_says_so_and_another_goes_on(
    module: Any, harmed_cluster: Cluster, namespace: str
) -> None:
    user = f"writer-{namespace}"
    harmed_cluster.make_user(user, mon="allow r", osd="allow rw")
    url = harmed_cluster.url(namespace=namespace, user=user, timeout=5)
    with host(module, url) as one:
        stores = one.begin(one.kv.store, keys_of(MANY), values_of(MANY))
        one.wait_for(100)
        with frozen(harmed_cluster):
            (address,) = harmed_cluster.clients(user)
            harmed_cluster.blocklist(address)
            assert not stores.done()
        counts = said(stores.result(60))
        assert set(counts) == {OK, CUT_OFF}
        heard = one.every_command(keys_of(range(300)))
        # Names alone an OSD still gives to such a client; they are true.
        assert heard == all_say(CUT_OFF, 300) | {"list": Counter([OK])}
        assert len(list(one.kv.list())) == counts[OK]
        with took(0, 0):
            one.kv.close()
            one.controller.close()
    with host(module, url) as another:
        another.kv.store(keys_of(MANY), values_of(MANY)).raise_for_status()


# The controller.


def test_what_was_acknowledged_outlives_the_controller(
    module: Any, cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    url = cluster.url(namespace=namespace)
    open_changes = 0
    for turn in range(3):
        writer = subprocess.Popen(
            [sys.executable, WRITER, module.path, url, journal, str(turn)],
            stderr=subprocess.PIPE,
        )
        wait_for_store(journal, writer, lines_of(journal) + 1500)
        time.sleep(0.02 * turn)
        writer.kill()
        writer.communicate()
        with host(module, cluster.url(namespace=namespace, timeout=20)) as one:
            complaints, certain = acknowledged.check(journal, reader(one))
        assert complaints == []
        kept = acknowledged.replay(journal)
        assert len(kept) == 300
        assert certain > 100
        open_changes += sum(bool(one.later) for one in kept.values())
    assert open_changes  # it was killed within a batch


def lines_of(journal: Path) -> int:
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def wait_for_store(journal: Path, writer: subprocess.Popen[bytes], lines: int) -> None:
    """Wait until a journal has more lines, and the last says that a store begins."""
    end = time.monotonic() + 60
    while True:
        text = journal.read_bytes() if journal.exists() else b""
        last = text[text.rfind(b"\n", 0, -1) + 1 :]
        if text.count(b"\n") > lines and last.startswith(b"intent") and b"absent" not in last:
            return
        assert writer.poll() is None, writer.communicate()
        assert time.monotonic() < end
        time.sleep(0.002)


# What ends while commands are in flight.


@pytest.mark.parametrize("end", ["reset", "close", "kill", "delete_queue"])
def test_what_ends_with_commands_in_flight_ends_at_once_and_writes_nothing_later(
    module: Any, cluster: Cluster, namespace: str, end: str
) -> None:
    numbers = range(WINDOW)
    url = cluster.url(namespace=namespace, timeout=30)
    with host(module, url, timeout=1) as one:
        one.kv.store(keys_of(numbers), values_of(numbers), timeout=30).raise_for_status()
        other = module.attach(one.controller, queues=1, depth=8, timeout=1)
        out = np.full((WINDOW, 1024), 7, np.uint8)
        with frozen(cluster):
            retrieves = one.begin(one.kv.retrieve, keys_of(numbers), out)
            writes = one.begin(other.store, keys_of(range(5)), values_of(range(5)))
            one.wait_for_fetch(WINDOW + 5)
            with took(0, 0):
                end_it(one, other, end)
            assert said(retrieves.result(20)) == {NOTHING: WINDOW}
            assert said(writes.result(20)) == {NOTHING: 5}
            with took(0, 0):
                if end == "kill":
                    one.controller.reset()
                one.kv.confirm_deleted()
                other.confirm_deleted()
                one.kv.close()
                other.close()
        time.sleep(0.5)
        assert (out == 7).all()


def end_it(one: Host, other: Any, end: str) -> None:
    if end != "delete_queue":
        return getattr(one.controller, end)()
    for pair in (*one.kv.queues, *other.queues):
        one.controller.delete_queue(pair.qid)


def test_closing_waits_for_a_listing_that_nobody_answers_as_long_as_its_deadline(
    module: Any, cluster: Cluster, namespace: str
) -> None:
    with host(module, cluster.url(namespace=namespace, timeout=2), timeout=1) as one:
        others = [module.attach(one.controller, depth=4, timeout=1) for _ in range(6)]
        with frozen(cluster):
            lists = [one.begin(Host(one.controller, kv, one.threads).listed) for kv in others]
            one.wait_for_fetch(6)
            with took(0, 0):
                one.controller.reset()
            with took(0, 2):
                one.controller.close()
            assert [future.result(20) for future in lists] == [{NOTHING: 1}] * 6
        for kv in (one.kv, *others):
            kv.confirm_deleted()
            kv.close()


def test_a_host_that_is_less_patient_than_the_store_gives_its_queues_up(
    module: Any, cluster: Cluster, namespace: str
) -> None:
    numbers = range(WINDOW)
    with host(module, cluster.url(namespace=namespace, timeout=30), timeout=0.5) as one:
        with frozen(cluster):
            with took(0.5, 0.5):
                result = one.kv.store(keys_of(numbers), values_of(numbers))
            assert result.counts == {Outcome.TIMEOUT: WINDOW}
            with pytest.raises(DeadQueueFault):
                one.kv.exist(keys_of(numbers))
            with took(0, 0):
                one.kv.reset()
            assert not result.buffer_may_be_written
        one.kv.store(keys_of(numbers), values_of(numbers), timeout=20).raise_for_status()
        with frozen(cluster):
            one.kv.exist(keys_of(numbers))
            with took(0, 0):
                one.kv.close()
                one.controller.close()


# Leaks.


def of_this_process() -> tuple[int, ...]:
    """Return its threads and its open files."""
    return tuple(len(list(Path("/proc/self", name).iterdir())) for name in ("task", "fd"))


def resident() -> int:
    """Return this process's memory in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_ten_thousand_failures_leave_nothing_behind(
    module: Any, harmed_cluster: Cluster, namespace: str
) -> None:
    numbers = range(WINDOW)
    keys, values = keys_of(numbers), values_of(numbers, 1 << 16)
    with host(module, harmed_cluster.url(namespace=namespace, timeout=0.02)) as one:
        one.kv.exist(keys)  # the client is told that its OSD stops
        harmed_cluster.stop_osd()

        def fail() -> None:
            assert said(one.kv.store(keys, values)) == {UNREACHABLE: WINDOW}
            assert said(one.kv.retrieve(keys, values)) == {UNREACHABLE: WINDOW}

        for _ in range(4):
            fail()
        before, memory = of_this_process(), resident()
        for _ in range(20):
            fail()
        assert of_this_process() == before
        # The values that were to be stored are 317 MiB.
        assert resident() - memory < 60 << 20


def test_an_osd_that_hangs_does_not_fill_the_memory(
    module: Any, cluster: Cluster, namespace: str
) -> None:
    numbers = range(64)
    keys, values = keys_of(numbers), values_of(numbers, 1 << 20)
    with host(module, cluster.url(namespace=namespace, timeout=0.3), depth=33) as one:
        memory = resident()
        with frozen(cluster):
            for _ in range(10):
                assert said(one.kv.store(keys, values)) == {UNREACHABLE: 64}
            # Of 640 MiB, what was in flight when 64 MiB had been given up.
            assert resident() - memory < 300 << 20
            assert said(one.kv.retrieve(keys, values)) == {UNREACHABLE: 64}
        at_last(lambda: said(one.kv.store(keys, values)), Counter({OK: 64}))


def test_controllers_that_come_and_go_leave_nothing_behind(
    module: Any, harmed_cluster: Cluster, namespace: str
) -> None:
    url = harmed_cluster.url(namespace=namespace, timeout=0.5, connect_timeout=1)

    def come_and_go() -> None:
        with host(module, url, depth=8) as one:
            one.kv.exist(keys_of(range(20)))
            with frozen(harmed_cluster):
                assert said(one.kv.exist(keys_of(range(5)))) == {UNREACHABLE: 5}

    def be_refused() -> None:
        with pytest.raises(RuntimeFault):
            Emulator(store=harmed_cluster.url(pool="nobody"))
        with frozen(harmed_cluster, "mon"), pytest.raises(RuntimeFault):
            Emulator(store=url)

    come_and_go()
    be_refused()
    before = of_this_process()
    for _ in range(3):
        come_and_go()
    be_refused()
    assert of_this_process() == before
    assert threading.active_count() < 10
