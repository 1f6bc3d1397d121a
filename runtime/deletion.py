"""Deleting keys: keys in, which of them are known to be gone out.

Who may not delete may have been denied to store, too: where a Delete is denied, it is looked
whether the key is there at all. Who may not even look has stored nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.generated.nvme_kv import Status
from xiokv.runtime.abi import Outcome
from xiokv.runtime.kv import KV
from xiokv.runtime.results import Result


def delete(kv: KV, keys: Sequence[bytes] | Any) -> None:
    """Delete keys; those that are not there are no fault, whoever may delete.

    Raises:
        BatchFault: a key could not be deleted, and is there or may be.
    """
    result = kv.delete(keys)
    if not gone_by(result, kv, keys).all():
        result.raise_for_status()


def gone_by(
    result: Result, kv: KV, keys: Sequence[bytes] | Any, timeout: float | None = None
) -> npt.NDArray[np.bool_]:
    """Return which keys are known to be gone.

    Args:
        result: of their Delete.
        kv: what they are looked up by, where that was denied.
        keys: all of them.
        timeout: seconds for that.
    """
    gone: npt.NDArray[np.bool_] = np.isin(result.status, (Outcome.OK, Outcome.MISSING))
    if _denied(result).any():
        found = kv.exist(keys, timeout=timeout)
        gone |= (found.status == Outcome.MISSING) | _denied(found)
    return gone


def _denied(result: Result) -> npt.NDArray[np.bool_]:
    said = result.nvme_status
    denied: npt.NDArray[np.bool_] = (said["sct"] == 0) & (said["sc"] == Status.OPERATION_DENIED)
    return denied
