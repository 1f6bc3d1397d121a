"""What retrieving costs, by what was measured: past batches in, an estimate out."""

from __future__ import annotations

import threading
from collections import deque

import numpy as np
import numpy.typing as npt

from xiokv.runtime.kvcache.storage import FetchCost

_KEPT = 64


class CostModel:
    """Fits a time a batch and a time a byte to the last batches of a storage."""

    def __init__(self) -> None:
        self._seen: deque[tuple[int, float]] = deque(maxlen=_KEPT)
        self._fitted: tuple[float, float] | None = None
        self._lock = threading.Lock()

    def saw(self, size: int, seconds: float) -> None:
        """Note a batch of so many bytes."""
        with self._lock:
            self._seen.append((size, seconds))
            self._fitted = None

    def estimate(self, commands: int, size: int) -> FetchCost:
        """Return what a batch costs."""
        with self._lock:
            count = len(self._seen)
            if count and self._fitted is None:
                seen = np.array(self._seen, np.float64)
                self._fitted = _fit(seen[:, 0], seen[:, 1])
            fitted = self._fitted
        if fitted is None:
            return FetchCost(commands, size, None, "no batch was measured yet")
        if not commands:
            return FetchCost(0, 0, 0.0, "nothing is to be moved")
        begin, a_byte = fitted
        return FetchCost(
            commands, size, begin + a_byte * size, f"the last {count} batches of this storage"
        )


def _fit(sizes: npt.NDArray[np.float64], seconds: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return seconds a batch and seconds a byte, neither below 0."""
    spread = sizes - sizes.mean()
    a_byte = float((spread * seconds).sum() / max((spread**2).sum(), 1.0))
    begin = float(seconds.mean() - a_byte * sizes.mean())
    if a_byte < 0 or begin < 0 or not spread.any():
        return 0.0, float(seconds.sum() / max(sizes.sum(), 1.0))
    return begin, a_byte
