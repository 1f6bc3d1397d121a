"""KV-cache blocks: found by a planner, accepted by a backend, moved by key.

Names are imported from their modules when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xiokv.runtime.kvcache.block_store import BlockStore
    from xiokv.runtime.kvcache.documents import DocumentFault, Range
    from xiokv.runtime.kvcache.execution import Executor, Settings
    from xiokv.runtime.kvcache.keyspace import Keyspace, layout_id, token_digests
    from xiokv.runtime.kvcache.kv_storage import KvStorage
    from xiokv.runtime.kvcache.manifest import (
        Block,
        Handle,
        Heads,
        KvLayout,
        Manifest,
        Model,
        Parallel,
        Rope,
        Shard,
    )
    from xiokv.runtime.kvcache.materialiser import (
        Accept,
        AcceptAll,
        Decline,
        Materialiser,
        Offer,
        SameLayout,
    )
    from xiokv.runtime.kvcache.memory_storage import MemoryStorage
    from xiokv.runtime.kvcache.metrics import Metrics
    from xiokv.runtime.kvcache.plan import DonorSpan, FreshSpan, Plan
    from xiokv.runtime.kvcache.report import Cause, Report, SpanReport
    from xiokv.runtime.kvcache.semblend import from_composite, from_segments
    from xiokv.runtime.kvcache.span_metrics import SpanMetrics
    from xiokv.runtime.kvcache.states import BlockState, PutState
    from xiokv.runtime.kvcache.storage import (
        Donor,
        DonorMissingFault,
        Fetch,
        FetchCost,
        GenerationFault,
        Lease,
        LeasedFault,
        NewDonor,
        PublishFault,
        Storage,
    )

__all__ = [
    "Accept",
    "AcceptAll",
    "Block",
    "BlockState",
    "BlockStore",
    "Cause",
    "Decline",
    "DocumentFault",
    "Donor",
    "DonorMissingFault",
    "DonorSpan",
    "Executor",
    "Fetch",
    "FetchCost",
    "FreshSpan",
    "GenerationFault",
    "Handle",
    "Heads",
    "Keyspace",
    "KvLayout",
    "KvStorage",
    "Lease",
    "LeasedFault",
    "Manifest",
    "Materialiser",
    "MemoryStorage",
    "Metrics",
    "Model",
    "NewDonor",
    "Offer",
    "Parallel",
    "Plan",
    "PublishFault",
    "PutState",
    "Range",
    "Report",
    "Rope",
    "SameLayout",
    "Settings",
    "Shard",
    "SpanMetrics",
    "SpanReport",
    "Storage",
    "from_composite",
    "from_segments",
    "layout_id",
    "token_digests",
]

_HOMES = {
    "block_store": ("BlockStore",),
    "documents": (
        "DocumentFault",
        "Range",
    ),
    "execution": (
        "Executor",
        "Settings",
    ),
    "keyspace": (
        "Keyspace",
        "layout_id",
        "token_digests",
    ),
    "kv_storage": ("KvStorage",),
    "manifest": (
        "Block",
        "Handle",
        "Heads",
        "KvLayout",
        "Manifest",
        "Model",
        "Parallel",
        "Rope",
        "Shard",
    ),
    "materialiser": (
        "Accept",
        "AcceptAll",
        "Decline",
        "Materialiser",
        "Offer",
        "SameLayout",
    ),
    "memory_storage": ("MemoryStorage",),
    "metrics": ("Metrics",),
    "plan": (
        "DonorSpan",
        "FreshSpan",
        "Plan",
    ),
    "report": (
        "Cause",
        "Report",
        "SpanReport",
    ),
    "semblend": (
        "from_composite",
        "from_segments",
    ),
    "span_metrics": ("SpanMetrics",),
    "states": (
        "BlockState",
        "PutState",
    ),
    "storage": (
        "Donor",
        "DonorMissingFault",
        "Fetch",
        "FetchCost",
        "GenerationFault",
        "Lease",
        "LeasedFault",
        "NewDonor",
        "PublishFault",
        "Storage",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
