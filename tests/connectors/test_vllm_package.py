"""The same connector on vLLM's own classes: factory, base class, layouts of the KV cache.

Tried with vllm 0.33.0, whose wheel is taken without its dependencies; PyTorch and whatever else
its modules import is a stand-in, and no server ran.
"""

from __future__ import annotations

import inspect
import logging
import pickle
from collections.abc import Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.connectors import tensors
from tests.connectors.engine import BLOCK_TOKENS, Engine, cache_config, config, pages
from tests.connectors.peers import VLLM, NoWheel, importable, sources
from xiokv.runtime import ArgumentFault
from xiokv.runtime.connectors import vllm as connector

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("vllm")]

PROMPT = list(range(46))
TRANSFER = "vllm.distributed.kv_transfer.kv_connector"
REAL = (
    f"{TRANSFER}.base",
    f"{TRANSFER}.factory",
    f"{TRANSFER}.v1",
    f"{TRANSFER}.v1.base",
    "vllm.utils.func_utils",
    "vllm.v1.kv_cache_interface",
    "vllm.v1.kv_cache_layout",
    "vllm.v1.metrics.cache_hit_source",
)


@pytest.fixture(scope="module")
def vllm() -> Iterator[SimpleNamespace]:
    """Return vLLM's modules, by their last names; base is that of version 1."""
    try:
        root = sources(VLLM)
    except NoWheel as reason:
        pytest.skip(f"no wheel of {reason}")
    with importable(root, REAL):
        torch: Any = import_module("torch")
        torch.uint8, torch.as_strided = tensors.uint8, tensors.Tensor.as_strided
        logs: Any = import_module("vllm.logger")
        logs.init_logger = logging.getLogger
        sizes: Any = import_module("vllm.utils.torch_utils")
        sizes.get_dtype_size = lambda dtype: dtype.itemsize
        yield SimpleNamespace(**{name.rpartition(".")[2]: import_module(name) for name in REAL})
        for name in ("XiokvConnector", "XiokvConnectorMetadata"):
            vars(connector).pop(name, None)


@pytest.fixture
def make(vllm: Any, stand: Any) -> Iterator[Any]:
    """Return a function that makes an engine whose connectors vLLM's factory makes."""
    made: list[Engine] = []

    def create(settings: Any, role: Any, caches: Any) -> Any:
        transfer = settings.kv_transfer_config
        transfer.kv_connector = "XiokvConnector"
        transfer.kv_connector_module_path = "xiokv.runtime.connectors.vllm"
        transfer.engine_id = "engine"
        settings.scheduler_config = SimpleNamespace(disable_hybrid_kv_cache_manager=True)
        return vllm.factory.KVConnectorFactory.create_connector(settings, role, caches)

    def make(**facts: Any) -> Engine:
        roles = {role.name: role for role in vllm.v1.KVConnectorRole}
        engine = Engine(create, stand.options(), roles=roles, **facts)
        made.append(engine)
        return engine

    yield make
    for engine in made:
        engine.close()


@pytest.mark.parametrize("tp", [1, 2])
def test_blocks_of_an_engine_come_back_in_another(vllm: Any, make: Any, tp: int) -> None:
    writer, reader = make(tp=tp), make(tp=tp, seed=1)
    base = import_module(f"{TRANSFER}.v1.base")
    assert isinstance(writer.scheduler, base.KVConnectorBase_V1)
    expected = pages(writer, writer.run(PROMPT))
    assert pages(reader, reader.run(PROMPT)) == expected
    assert reader.loaded == len(PROMPT) // BLOCK_TOKENS * BLOCK_TOKENS


def test_no_abstract_method_is_left_and_parameters_are_the_bases(vllm: Any) -> None:
    base = import_module(f"{TRANSFER}.v1.base").KVConnectorBase_V1
    made = connector.XiokvConnector
    assert not made.__abstractmethods__
    own = [name for name in vars(connector.Connector) if inspect.isfunction(getattr(made, name))]
    checked = [name for name in own if hasattr(base, name)]
    assert set(base.__abstractmethods__) < set(checked)
    for name in checked:
        ours, theirs = (inspect.signature(getattr(of, name)).parameters for of in (made, base))
        assert [(p.name, p.kind) for p in ours.values()] == [
            (p.name, p.kind) for p in theirs.values()
        ], name


def test_what_the_scheduler_says_comes_to_a_worker_in_another_process(vllm: Any, make: Any) -> None:
    engine = make()
    output = SimpleNamespace(
        scheduled_new_reqs=[],
        scheduled_cached_reqs=SimpleNamespace(req_ids=[], new_block_ids=[], resumed_req_ids=()),
        num_scheduled_tokens={},
    )
    metadata = engine.scheduler.build_connector_meta(output)
    assert isinstance(metadata, import_module(f"{TRANSFER}.v1.base").KVConnectorMetadata)
    again = pickle.loads(pickle.dumps(metadata))
    assert type(again) is type(metadata)
    assert again.step == metadata.step


def test_it_does_without_what_vllm_asks_of_hybrid_models_and_deliveries(
    vllm: Any, make: Any
) -> None:
    scheduler = make().scheduler
    assert not vllm.v1.supports_hma(scheduler)
    assert scheduler.requires_kv_delivery is False
    assert type(scheduler).supports_sleep_mode(None) is False
    assert scheduler.get_transfer_results(set()).finished_sending == set()


def test_a_model_of_another_kind_is_refused_by_the_factory(vllm: Any, stand: Any) -> None:
    kinds = vllm.kv_cache_interface
    spec = kinds.SlidingWindowSpec(
        block_size=4, num_kv_heads=2, head_size=4, dtype=tensors.bfloat16, sliding_window=8
    )
    with pytest.raises(ArgumentFault, match="SlidingWindowSpec"):
        connector.XiokvConnector(
            config(stand.options()), vllm.v1.KVConnectorRole.WORKER, cache_config(8, spec=spec)
        )


# Layouts


def views(vllm: Any, layout: str, layers: int = 3, blocks: int = 5) -> dict[str, tensors.Tensor]:
    """Return caches of layers as vLLM makes them of one allocation."""
    kinds = vllm.kv_cache_interface
    spec = kinds.FullAttentionSpec(
        block_size=4, num_kv_heads=2, head_size=8, dtype=tensors.bfloat16
    )
    order = vllm.kv_cache_layout.KVCacheLayout[layout]
    strides = kinds.compute_layout_strides(spec, blocks, layers, order)
    size = layers * blocks * spec.page_size_bytes
    placed = kinds.KVCacheTensor(
        size=size,
        layers=[f"layers.{number}" for number in range(layers)],
        layer_stride=strides[0],
        block_stride=strides[1],
    )
    raw = tensors.Tensor(np.zeros(size, np.uint8), tensors.uint8)
    made = kinds.create_kv_cache_views(raw, spec, blocks, order, placed)
    return dict(zip(placed.layers, made, strict=True))


@pytest.mark.parametrize(
    ("layout", "runs"), [("LBNHC", 3), ("LBHNC", 3), ("BLNHC", 1), ("BLHNC", 1)]
)
def test_slots_are_the_bytes_of_vllms_blocks(vllm: Any, layout: str, runs: int) -> None:
    from xiokv.runtime.connectors.vllm_caches import regions_of

    caches = views(vllm, layout)
    for number, layer in enumerate(caches.values()):
        layer.array[:] = 1000 * number + np.arange(5).reshape(-1, 1, 1, 1)
    (region,) = regions_of(caches, 5)
    assert len(region.runs) == runs
    slots = region.slots(np.array([4, 1]), range(runs))
    memory = slots.memory.array
    for begin, size in zip(slots.offsets.tolist(), slots.sizes.tolist(), strict=True):
        words = memory[begin : begin + size].view(np.uint16) % 1000
        assert set(words.tolist()) in ({4}, {1})
    assert slots.sizes.sum() == 2 * 3 * 2 * 2 * 4 * 8 * 2


@pytest.mark.parametrize("layout", ["LHBNC", "BHLNC"])
def test_layouts_with_blocks_in_pieces_are_refused(vllm: Any, layout: str) -> None:
    from xiokv.runtime.connectors.vllm_caches import regions_of

    with pytest.raises(ArgumentFault, match="one piece"):
        regions_of(views(vllm, layout), 5)
