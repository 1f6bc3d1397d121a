"""Tensors of PyTorch itself, where it is installed: on the CPU, and on a GPU where there is one.

Tried with torch 2.14.1 on the CPU, and on an H200.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.connectors.engine import cache_config, config
from tests.connectors.sglang.storing import Config
from xiokv.runtime.connectors.controllers import offer
from xiokv.runtime.connectors.guard import Guard
from xiokv.runtime.connectors.options import read_options
from xiokv.runtime.connectors.sglang import Storage
from xiokv.runtime.connectors.vllm_facts import Facts
from xiokv.runtime.connectors.vllm_worker import Transfer, Worker
from xiokv.runtime.emulator import Emulator

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

BLOCKS, LAYERS = 9, 3
HASHES = [hashlib.sha256(bytes([number])).digest() for number in range(4)]
DTYPES = ("bfloat16", "float16", "float8_e4m3fn", "uint8")


def caches(order: str, dtype: str, device: str = "cpu", seed: int | None = None) -> dict[str, Any]:
    """Return caches of layers as vLLM lays them out: views [B, H, N, C] of one allocation."""
    lengths = {"L": LAYERS, "B": BLOCKS, "H": 2, "N": 4, "C": 8}
    item = getattr(torch, dtype).itemsize
    raw = torch.zeros(int(np.prod(list(lengths.values()))) * item, dtype=torch.int8, device=device)
    if seed is not None:
        raw[:] = torch.randint(-128, 128, raw.shape, dtype=torch.int8)
    view = raw.view(getattr(torch, dtype)).view([lengths[name] for name in order])
    view = view.permute([order.index(name) for name in "LBHNC"])
    return {f"layers.{number}": view[number] for number in range(LAYERS)}


def block(cache: dict[str, Any], number: int) -> list[bytes]:
    """Return the bytes of a block, layer by layer."""
    return [
        layer[number].contiguous().view(torch.uint8).cpu().numpy().tobytes()
        for layer in cache.values()
    ]


@pytest.fixture
def make(stand: Any) -> Iterator[Callable[..., Worker]]:
    """Return a function that makes a worker with caches."""
    made: list[Worker] = []

    def make(cache: dict[str, Any], **options: Any) -> Worker:
        given = read_options(stand.options(**options))
        facts = Facts(config({}), cache_config(BLOCKS))
        worker = Worker(given, facts, BLOCKS, Guard("the connector"))
        worker.register(cache)
        made.append(worker)
        return worker

    yield make
    for worker in made:
        worker.close()


@pytest.mark.parametrize("order", ["LBNHC", "LBHNC", "BLNHC", "BLHNC"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_blocks_come_back_to_other_places(make: Any, order: str, dtype: str) -> None:
    cache, other = caches(order, dtype, seed=1), caches(order, dtype)
    make(cache).save([Transfer(HASHES, [7, 2, 8, 4])])
    assert make(other).load([Transfer(HASHES, [1, 6, 3, 8])]) == set()
    for here, there in zip((7, 2, 8, 4), (1, 6, 3, 8), strict=True):
        assert block(other, there) == block(cache, here)
    assert not any(map(any, (block(other, number)[0] for number in (0, 2, 4, 5, 7))))


def test_a_block_that_is_gone_is_named(make: Any) -> None:
    cache = caches("LBNHC", "bfloat16", seed=1)
    worker = make(cache)
    worker.save([Transfer(HASHES[:2], [7, 2])])
    assert worker.load([Transfer(HASHES, [1, 6, 3, 8])]) == {3, 8}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no GPU")
@pytest.mark.parametrize("options", [{}, {"target": "host"}], ids=str)
def test_blocks_of_a_gpu_come_back(
    make: Any, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without a target it is the tensors' device's, for which the tests' module is not.
    if not options:
        monkeypatch.delenv("XIOKV_MODULE")
    cache = caches("LBNHC", "bfloat16", "cuda", seed=1)
    other = caches("LBNHC", "bfloat16", "cuda")
    with Emulator() as controller, offer("of a GPU", controller):
        writer = make(cache, controller="of a GPU", **options)
        writer.save([Transfer(HASHES, [7, 2, 8, 4])])
        writer.close()
        reader = make(other, controller="of a GPU", **options)
        assert reader.load([Transfer(HASHES, [1, 6, 3, 8])]) == set()
        reader.close()
    assert block(other, 6) == block(cache, 2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_pages_of_sglang_come_back(stand: Any, dtype: str) -> None:
    storage = Storage(Config(stand.options()))
    page = torch.randint(0, 256, (512,), dtype=torch.uint8).view(getattr(torch, dtype))
    out = torch.zeros_like(page)
    assert storage.batch_set(["k"], [page]) is True
    assert storage.batch_get(["k", "other"], [out, torch.zeros_like(page)]) == [out, None]
    assert out.view(torch.uint8).tolist() == page.view(torch.uint8).tolist()
    storage.close()
