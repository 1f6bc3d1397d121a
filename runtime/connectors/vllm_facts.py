"""What the blocks of a vLLM engine are, as its scheduler and its workers both know it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xiokv.runtime.connectors.identity import server_layout
from xiokv.runtime.errors import ArgumentFault

SERVER = "vllm"

# Kinds of cache in which each block has the keys and values of its own tokens and of no others.
_SPECS = ("FullAttentionSpec", "MLAAttentionSpec")

_OF_MODEL = ("model", "revision", "quantization", "dtype", "hf_overrides")
_OF_ROPE = ("rope_parameters", "rope_scaling", "rope_theta")


@dataclass(frozen=True, slots=True)
class Place:
    """A share of the heads and layers.

    Attributes:
        tp: its number among those that share the heads.
        pp: its stage.
        writes: whether it stores, and not another rank that has the same.
    """

    tp: int
    pp: int
    writes: bool = True


class Facts:
    """The layout of an engine's blocks.

    Args:
        config: vLLM's `VllmConfig`.
        caches: vLLM's `KVCacheConfig`.

    Attributes:
        block_tokens: tokens of a block.

    Raises:
        ArgumentFault: a block of this engine does not stand for its tokens alone.
    """

    def __init__(self, config: Any, caches: Any) -> None:
        _check_kind(config, caches)
        parallel = config.parallel_config
        self.block_tokens = int(config.cache_config.block_size)
        self._ranks = int(parallel.tensor_parallel_size)
        self._stages = int(parallel.pipeline_parallel_size)
        self._rank = int(getattr(parallel, "rank", 0))
        self._same = _replicas(config, caches)
        self._common = _common(config, caches)

    @property
    def here(self) -> Place:
        """The share of this worker."""
        rank = self._rank % self._ranks
        stage = self._rank // self._ranks % self._stages
        return Place(rank // self._same, stage, rank % self._same == 0)

    @property
    def everywhere(self) -> list[Place]:
        """All shares that a block consists of."""
        shares = range(self._ranks // self._same)
        return [Place(tp, pp) for pp in range(self._stages) for tp in shares]

    def layout(self, place: Place, run: int) -> bytes:
        """Return what stands for the layout of one run of layers of a share."""
        share = {
            "tp": [place.tp, self._ranks // self._same],
            "pp": [place.pp, self._stages],
            "run": run,
        }
        return server_layout(SERVER, self._common | share)


def _check_kind(config: Any, caches: Any) -> None:
    groups = caches.kv_cache_groups
    kinds = {type(spec).__name__ for group in groups for spec in _specs(group.kv_cache_spec)}
    if len(groups) != 1 or not kinds.issubset(_SPECS):
        raise ArgumentFault(
            f"the KV cache has {len(groups)} groups, of {', '.join(sorted(kinds)) or 'nothing'};"
            f" this connector takes one group of {' or '.join(_SPECS)}"
        )
    parallel = config.parallel_config
    for name in ("decode_context_parallel_size", "prefill_context_parallel_size"):
        if getattr(parallel, name, 1) > 1:
            raise ArgumentFault(f"{name} is {getattr(parallel, name)}; this connector takes 1")
    tokens, hashed = config.cache_config.block_size, getattr(caches, "hash_block_size", None)
    if hashed not in (None, tokens):
        raise ArgumentFault(f"blocks have {tokens} tokens and hashes {hashed}; they have to agree")


def _specs(spec: Any) -> list[Any]:
    """Return the kinds of cache of a group, of which layers may have one each."""
    each = getattr(spec, "kv_cache_specs", None)
    return [spec] if each is None else list(each.values())


def _replicas(config: Any, caches: Any) -> int:
    """Return how many ranks in a row have the same bytes."""
    if getattr(config.model_config, "use_mla", False):
        return int(config.parallel_config.tensor_parallel_size)
    return int(getattr(caches, "kv_tp_replicas", 1))


def _common(config: Any, caches: Any) -> dict[str, Any]:
    model, cache = config.model_config, config.cache_config
    facts = {name: _text(getattr(model, name, None)) for name in _OF_MODEL}
    text = getattr(model, "hf_text_config", None) or getattr(model, "hf_config", None)
    facts |= {name: _text(getattr(text, name, None)) for name in _OF_ROPE}
    return facts | {
        "cache_dtype": str(cache.cache_dtype),
        "block_tokens": int(cache.block_size),
        "hash": str(getattr(cache, "prefix_caching_hash_algo", None)),
        "order": str(getattr(caches, "kv_cache_layout", None)),
    }


def _text(value: Any) -> str:
    """Return a value as the same text in every process."""
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value))}"
    return str(value)
