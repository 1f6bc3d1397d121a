"""An engine as vLLM's: a scheduler and workers that compute blocks, and call connectors.

What a block's bytes are depends on the bytes of the block before in the caches of all workers,
as in a model: whoever computes from a block that was not loaded right computes wrong ones.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.connectors.tensors import Tensor, bfloat16

BLOCK_TOKENS = 4
ROLES = {name: SimpleNamespace(name=name) for name in ("SCHEDULER", "WORKER")}


class FullAttentionSpec:
    """The kind of cache."""


@dataclass
class Request:
    """A request; tokens that are all known from the start."""

    request_id: str
    tokens: list[int]
    block_hashes: list[bytes] = field(default_factory=list)
    num_computed_tokens: int = 0
    num_in_flight_tokens: int = 0
    block_ids: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        before = b""
        for begin in range(0, len(self.tokens) - BLOCK_TOKENS + 1, BLOCK_TOKENS):
            words = self.tokens[begin : begin + BLOCK_TOKENS]
            before = hashlib.sha256(before + repr(words).encode()).digest()
            self.block_hashes.append(before)

    @property
    def num_tokens(self) -> int:
        return len(self.tokens)


def caches(
    layers: int, blocks: int, order: str = "LBNHC", pad: int = 0, device: str = "cpu"
) -> dict[str, Tensor]:
    """Return the caches of layers in one storage, as vLLM lays them out.

    Args:
        layers: how many.
        blocks: of each.
        order: of dimensions, L for layers and B for blocks, with heads, tokens, content.
        pad: elements between blocks, where L and B come first.
        device: where they say they are.
    """
    lengths = {"L": layers, "B": blocks, "H": 2, "N": BLOCK_TOKENS, "C": 8}
    shape = [lengths[name] for name in order]
    if pad:
        shape = [*shape[:2], lengths["H"] * lengths["N"] * lengths["C"] + pad]
        whole = np.zeros(shape, np.uint16)
        inner = [lengths[name] for name in order[2:]]
        view = whole[..., : int(np.prod(inner))].reshape(*shape[:2], *inner)
        if not np.shares_memory(view, whole):
            view = np.lib.stride_tricks.as_strided(
                whole, [*shape[:2], *inner],
                [*whole.strides[:2], *(np.empty(inner, np.uint16).strides)],
            )  # fmt: skip
    else:
        whole = view = np.zeros(shape, np.uint16)
    axes = [order.index(name) for name in "LBHNC"]
    return {
        f"layers.{number}": Tensor(layer, bfloat16, whole, device)
        for number, layer in enumerate(view.transpose(axes))
    }


def config(options: dict[str, Any], rank: int = 0, tp: int = 1, **facts: Any) -> Any:
    """Return what of vLLM's `VllmConfig` a connector looks at."""
    return SimpleNamespace(
        kv_transfer_config=SimpleNamespace(
            kv_connector_extra_config=options,
            is_kv_producer=facts.get("role") != "kv_consumer",
            is_kv_consumer=facts.get("role") != "kv_producer",
        ),
        cache_config=SimpleNamespace(
            block_size=BLOCK_TOKENS,
            cache_dtype=facts.get("cache_dtype", "auto"),
            prefix_caching_hash_algo="sha256",
        ),
        model_config=SimpleNamespace(
            model=facts.get("model", "model"), revision=None, quantization=None, dtype="bfloat16",
            hf_overrides=None, use_mla=facts.get("use_mla", False), hf_text_config=None,
        ),
        parallel_config=SimpleNamespace(
            tensor_parallel_size=tp, pipeline_parallel_size=1, rank=rank,
            decode_context_parallel_size=facts.get("dcp", 1), prefill_context_parallel_size=1,
        ),
    )  # fmt: skip


def cache_config(blocks: int, *, spec: Any = None, layout: str = "LBNHC") -> Any:
    """Return what of vLLM's `KVCacheConfig` a connector looks at."""
    group = SimpleNamespace(kv_cache_spec=spec or FullAttentionSpec(), layer_names=[])
    return SimpleNamespace(num_blocks=blocks, kv_cache_groups=[group], kv_cache_layout=layout)


class Engine:
    """An engine.

    Args:
        make: makes a connector of a config, a role and a cache config.
        options: of the connector.
        tp: workers.
        order: of the caches' dimensions.
        ahead: whether a step is scheduled before the outcome of the one before is known.
        chunk: most tokens that are computed in a step.
        seed: of the places of blocks.
        roles: vLLM's roles by name.
    """

    layers, blocks = 3, 64

    def __init__(
        self, make: Callable[..., Any], options: dict[str, Any], *, tp: int = 1,
        order: str = "LBNHC", ahead: bool = False, chunk: int = 8, seed: int = 0,
        roles: Any = None, **facts: Any,
    ) -> None:  # fmt: skip
        self.ahead, self.chunk, self.tp = ahead, chunk, tp
        roles = roles or ROLES
        device = facts.get("device", "cpu")
        options = options | ({} if device == "cpu" else {"target": "host"})
        self.caches = [caches(self.layers, self.blocks, order, device=device) for _ in range(tp)]
        layout = cache_config(self.blocks, layout=order)
        self.scheduler = make(config(options, tp=tp, **facts), roles["SCHEDULER"], layout)
        self.workers = [
            make(config(options, rank, tp, **facts), roles["WORKER"], layout) for rank in range(tp)
        ]
        self.mla = facts.get("use_mla", False)
        for worker, cache in zip(self.workers, self.caches, strict=True):
            worker.register_kv_caches(cache)
        self._free = list(range(1, self.blocks))
        random.Random(seed).shuffle(self._free)
        self._ended: dict[str, list[int]] = {}
        self.loaded = self.failed = 0

    def run(self, tokens: Sequence[int], name: str = "r") -> Request:
        """Compute a prompt, with what can be loaded, and end the request."""
        request = Request(name, list(tokens))
        outputs = [self._admit(request)]
        while request.num_computed_tokens - request.num_in_flight_tokens < request.num_tokens:
            if not self.ahead or len(outputs) == 2 or self._left(request) == 0:
                self._process(request, *outputs.pop(0))
            if self._left(request):
                outputs.append(self._step(request, self._cached(request)))
        for output in outputs:
            self._process(request, *output)
        self._end(request)
        return request

    def close(self) -> None:
        for connector in (self.scheduler, *self.workers):
            connector.shutdown()

    def page(self, rank: int, layer: int, block: int) -> np.ndarray:
        return self.caches[rank][f"layers.{layer}"].array[block]

    # The scheduler

    def _admit(self, request: Request) -> Any:
        found, later = self.scheduler.get_num_new_matched_tokens(request, 0)
        assert later is False
        count = -(-request.num_tokens // BLOCK_TOKENS)
        request.block_ids = [self._free.pop() for _ in range(count)]
        blocks = SimpleNamespace(get_block_ids=lambda: (request.block_ids,))
        self.scheduler.update_state_after_alloc(request, blocks, found)
        request.num_computed_tokens = found
        self.loaded = found
        new = SimpleNamespace(req_id=request.request_id, block_ids=(request.block_ids,))
        return self._step(request, new=[new])

    def _cached(self, request: Request) -> Any:
        return SimpleNamespace(
            req_ids=[request.request_id], new_block_ids=[None], resumed_req_ids=set()
        )

    def _left(self, request: Request) -> int:
        return request.num_tokens - request.num_computed_tokens

    def _step(self, request: Request, cached: Any = None, new: Sequence[Any] = ()) -> Any:
        count = min(self._left(request), self.chunk)
        nothing = SimpleNamespace(req_ids=[], new_block_ids=[], resumed_req_ids=set())
        output = SimpleNamespace(
            scheduled_new_reqs=list(new),
            scheduled_cached_reqs=cached or nothing,
            num_scheduled_tokens={request.request_id: count},
        )
        metadata = self.scheduler.build_connector_meta(output)
        begin = request.num_computed_tokens
        request.num_computed_tokens += count
        request.num_in_flight_tokens += count
        errors = self._work(metadata, lambda: self._compute(request, begin, count))
        return count, errors

    def _process(self, request: Request, count: int, errors: set[int]) -> None:
        request.num_in_flight_tokens -= count
        bad = [at for at, block in enumerate(request.block_ids) if block in errors]
        if bad:
            self.failed += len(bad)
            request.num_computed_tokens = bad[0] * BLOCK_TOKENS

    def _end(self, request: Request) -> None:
        waits, _ = self.scheduler.request_finished(request, request.block_ids)
        if not waits:
            self._free += request.block_ids
        nothing = SimpleNamespace(req_ids=[], new_block_ids=[], resumed_req_ids=set())
        output = SimpleNamespace(
            scheduled_new_reqs=[], scheduled_cached_reqs=nothing, num_scheduled_tokens={}
        )
        metadata = self.scheduler.build_connector_meta(output)
        self._work(metadata, lambda: None, {request.request_id} if waits else set())
        if waits:
            self._free += request.block_ids

    # The workers

    def _work(
        self, metadata: Any, compute: Callable[[], None], sent: set[str] | None = None
    ) -> set[int]:
        errors: set[int] = set()
        for worker in self.workers:
            worker.bind_connector_metadata(metadata)
            worker.start_load_kv(None)
        compute()
        for worker in self.workers:
            worker.wait_for_layer_load("layers.0")
            worker.save_kv_layer("layers.0", None, None)
            worker.wait_for_save()
            assert worker.get_finished(sent or set()) == ((sent or None), None)
            errors |= worker.get_block_ids_with_load_errors()
            worker.clear_connector_metadata()
        return errors

    def _compute(self, request: Request, begin: int, count: int) -> None:
        """Compute the blocks that get full, from what is in the caches."""
        for at in range(begin // BLOCK_TOKENS, (begin + count) // BLOCK_TOKENS):
            before = b""
            if at:
                block = request.block_ids[at - 1]
                before = b"".join(
                    self.page(rank, layer, block).tobytes()
                    for rank in range(self.tp)
                    for layer in range(self.layers)
                )
            words = request.tokens[at * BLOCK_TOKENS : (at + 1) * BLOCK_TOKENS]
            state = hashlib.sha256(before + repr(words).encode()).digest()
            self.write(request.block_ids[at], state)

    def write(self, block: int, state: bytes) -> None:
        for rank in range(self.tp):
            for layer in range(self.layers):
                page = self.page(rank, layer, block)
                share = 0 if self.mla else rank
                seed = state + bytes([layer, share])
                content = hashlib.shake_128(seed).digest(page.nbytes)
                page[:] = np.frombuffer(content, np.uint16).reshape(page.shape)


def pages(engine: Engine, request: Request) -> list[bytes]:
    """Return the bytes of a request's whole blocks, all workers and layers."""
    return [
        engine.page(rank, layer, block).tobytes()
        for block in request.block_ids[: request.num_tokens // BLOCK_TOKENS]
        for rank in range(engine.tp)
        for layer in range(engine.layers)
    ]
