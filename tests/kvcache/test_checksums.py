"""Checksums are the same whoever computes them: one thread, or as many as there are cores."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import xxhash

from xiokv.runtime.kvcache.checksums import ALGORITHMS, Algorithm, checksums_of, threads_for

ORACLES: dict[Algorithm, Callable[[bytes], bytes]] = {
    "xxh3-128": lambda payload: xxhash.xxh3_128(payload).digest(),
    "blake2b-128": lambda payload: hashlib.blake2b(payload, digest_size=16).digest(),
}

# Sizes of payloads in bytes: what is too little for threads, and what is not.
SHAPES: dict[str, list[int]] = {
    "none": [],
    "one": [9 << 20],
    "small": [4096] * 300,
    "two": [5 << 20, 5 << 20],
    "as many as cores": [1 << 20] * 16,
    "odd sizes": [*range(131_000, 131_200, 3)],
    "most of it in the first": [9 << 20, *[1] * 20],
    "most of it in the last": [*[1] * 20, 9 << 20],
    "large and small by turns": [1 << 20, 4] * 12,
    "empty ones between": [0, 6 << 20, 0, 0, 6 << 20, 0],
}


def payloads_of(sizes: list[int], seed: int = 1) -> list[memoryview]:
    """Return payloads that lie one after the other, as those of a batch do."""
    whole = memoryview(np.random.default_rng(seed).integers(0, 256, sum(sizes), np.uint8))
    ends = np.cumsum(sizes).tolist()
    return [whole[end - size : end] for end, size in zip(ends, sizes, strict=True)]


@pytest.fixture
def cores(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function that says how many cores this process may use."""
    return lambda count: monkeypatch.setattr(
        os, "sched_getaffinity", lambda process: set(range(count))
    )


@pytest.fixture
def thread_names(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the names of threads that computed a checksum, filled as they do."""
    names: set[str] = set()
    for algorithm, digest in ALGORITHMS.items():

        def noted(payload: Any, digest: Callable[[Any], bytes] = digest) -> bytes:
            names.add(threading.current_thread().name)
            return digest(payload)

        monkeypatch.setitem(ALGORITHMS, algorithm, noted)
    return names


@pytest.mark.parametrize("algorithm", ORACLES)
@pytest.mark.parametrize("count", [1, 2, 3, 64])
@pytest.mark.parametrize("sizes", SHAPES.values(), ids=SHAPES)
def test_each_payload_has_its_checksum_in_its_place(
    cores: Callable[[int], None], algorithm: Algorithm, count: int, sizes: list[int]
) -> None:
    cores(count)
    payloads = payloads_of(sizes)
    found = checksums_of(algorithm, payloads)
    assert found.shape == (len(sizes), 16)
    expected = [ORACLES[algorithm](payload.tobytes()) for payload in payloads]
    assert [row.tobytes() for row in found] == expected
    assert (checksums_of(algorithm, iter(payloads)) == found).all()


@pytest.mark.parametrize("algorithm", ORACLES)
def test_large_payloads_are_spread_and_no_thread_stays(
    cores: Callable[[int], None],
    thread_names: set[str],
    monkeypatch: pytest.MonkeyPatch,
    algorithm: Algorithm,
) -> None:
    caller, another, digest = threading.current_thread(), threading.Event(), ALGORITHMS[algorithm]

    def shared(payload: Any) -> bytes:
        """On a busy machine the caller would have done all of it before another begins."""
        if threading.current_thread() is caller:
            assert another.wait(20), "no other thread computes a checksum"
        else:
            another.set()
        return digest(payload)

    cores(4)
    monkeypatch.setitem(ALGORITHMS, algorithm, shared)
    before = threading.active_count()
    checksums_of(algorithm, payloads_of([1 << 20] * 24))
    assert threading.active_count() == before
    others = thread_names - {caller.name}
    assert 1 <= len(others) <= 3
    assert all(name.startswith("xiokv-checksums") for name in others)


@pytest.mark.parametrize("sizes", [[], [9 << 20], [4096] * 3000, [1 << 20] * 3], ids=len)
def test_what_gains_nothing_stays_with_its_caller(
    cores: Callable[[int], None], thread_names: set[str], sizes: list[int]
) -> None:
    cores(16)
    checksums_of("xxh3-128", payloads_of(sizes))
    assert thread_names == ({threading.current_thread().name} if sizes else set())


def test_payloads_that_come_one_at_a_time_are_not_gathered(
    cores: Callable[[int], None],
) -> None:
    """Each may be written over when the next is asked for."""
    cores(16)
    sizes = [1 << 20] * 16
    room = bytearray(1 << 20)

    def one_at_a_time() -> Any:
        for payload in payloads_of(sizes):
            room[:] = payload
            yield room

    expected = checksums_of("xxh3-128", payloads_of(sizes))
    assert (checksums_of("xxh3-128", one_at_a_time()) == expected).all()


@pytest.mark.parametrize(
    ("count", "size", "cores_there", "expected"),
    [
        (0, 0, 16, 1),
        (1, 1 << 30, 16, 1),
        (1000, 1000 * 100_000, 16, 1),
        (226, 226 << 20, 1, 1),
        (226, 226 << 17, 4, 4),
        (226, 226 << 17, 3, 1),
        (226, 226 << 18, 3, 3),
        (226, 226 << 20, 2, 2),
        (226, 226 << 20, 14, 14),
        (226, 226 << 20, 512, 16),
        (3, 226 << 20, 16, 3),
        (226, 12 << 20, 16, 1),
        (90, 12 << 20, 16, 3),
    ],
)
def test_threads_are_no_more_than_cores_and_work(
    cores: Callable[[int], None], count: int, size: int, cores_there: int, expected: int
) -> None:
    cores(cores_there)
    assert threads_for("xxh3-128", count, size) == expected


def test_what_is_no_payload_fails_as_without_threads(cores: Callable[[int], None]) -> None:
    cores(4)
    payloads: list[Any] = [bytes(4 << 20), bytes(4 << 20), "x" * (4 << 20)]
    for given in (payloads, iter(payloads)):
        with pytest.raises(TypeError):
            checksums_of("blake2b-128", given)
    assert not any(thread.name.startswith("xiokv-check") for thread in threading.enumerate())


def test_a_system_without_threads_takes_the_caller_s(
    cores: Callable[[int], None], thread_names: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(pool: ThreadPoolExecutor) -> None:
        raise RuntimeError("can't start new thread")

    cores(4)
    payloads = payloads_of([1 << 20] * 16)
    monkeypatch.setattr(ThreadPoolExecutor, "_adjust_thread_count", refuse)
    found = checksums_of("xxh3-128", payloads)
    assert thread_names == {threading.current_thread().name}
    assert found[5].tobytes() == ORACLES["xxh3-128"](payloads[5].tobytes())
