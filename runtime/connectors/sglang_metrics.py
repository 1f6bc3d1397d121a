"""How fast pages of SGLang moved since it asked last."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from typing import Any

_GIB = 1 << 30
_KEPT = 1024


@dataclass
class Metrics:
    """What SGLang's `StorageMetrics` has, where that is not there.

    Attributes:
        prefetch_pgs: pages of each batch that was fetched.
        backup_pgs: pages of each batch that was stored.
        prefetch_bandwidth: GiB/s of each batch that was fetched.
        backup_bandwidth: GiB/s of each batch that was stored.
    """

    prefetch_pgs: list[int] = field(default_factory=list)
    backup_pgs: list[int] = field(default_factory=list)
    prefetch_bandwidth: list[float] = field(default_factory=list)
    backup_bandwidth: list[float] = field(default_factory=list)


class Meter:
    """Counts batches; only the last are kept where nobody asks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._batches: dict[str, deque[tuple[int, float]]] = {
            "prefetch": deque(maxlen=_KEPT),
            "backup": deque(maxlen=_KEPT),
        }

    def note(self, what: str, pages: int, size: int, seconds: float) -> None:
        """Count a batch.

        Args:
            what: ``prefetch`` or ``backup``.
            pages: of it.
            size: their bytes.
            seconds: that it took.
        """
        if pages:
            with self._lock:
                self._batches[what].append((pages, size / _GIB / max(seconds, 1e-9)))

    def taken(self, kind: type[Any]) -> Any:
        """Return what was counted since the last time, as an object of a kind."""
        metrics = kind()
        with self._lock:
            for what, batches in self._batches.items():
                getattr(metrics, f"{what}_pgs").extend(pages for pages, _ in batches)
                getattr(metrics, f"{what}_bandwidth").extend(speed for _, speed in batches)
                batches.clear()
        return metrics


def metrics_class() -> type[Any]:
    """Return SGLang's class for metrics, or one that is like it."""
    try:
        from sglang.srt.observability.metrics_collector import StorageMetrics
    except Exception:  # whatever an import of a server's may fail by
        return Metrics
    found: type[Any] = StorageMetrics
    return found
