"""What SGLang gives its storage: a configuration, and pages of a pool under their keys."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.connectors.host_pools import HostPool
from tests.connectors.tensors import Tensor
from xiokv.runtime.connectors.sglang import Storage

KEYS = [hashlib.sha256(bytes([number])).hexdigest() for number in range(8)]
PAGES = [9, 2, 14, 3, 0, 11, 6, 5]


@dataclass
class Config:
    """What SGLang's `HiCacheStorageConfig` has."""

    extra_config: dict[str, Any]
    tp_rank: int = 0
    tp_size: int = 2
    pp_rank: int = 0
    pp_size: int = 1
    attn_cp_rank: int = 0
    attn_cp_size: int = 1
    is_mla_model: bool = False
    enable_storage_metrics: bool = False
    is_page_first_layout: bool = True
    model_name: str | None = "model"


Make = Callable[..., Storage]


def landing(like: HostPool) -> HostPool:
    """Return an empty pool of the same shape."""
    return HostPool(like.layout, latent=like.latent, dtype=like.dtype)


def pages_of(pool: HostPool, keys: list[str]) -> list[Tensor]:
    """Return the pages of some keys."""
    return [pool.get_data_page(PAGES[KEYS.index(key)] * pool.page_size) for key in keys]
