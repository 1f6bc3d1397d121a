"""Numbers that a call is given: whatever the caller has in, checked ones out.

A fault names the argument and says what it takes; no caller meets the error of a comparison
or a conversion in here.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime.errors import ArgumentFault


def integers(name: str, given: Any, count: int) -> npt.NDArray[np.int64]:
    """Return one integer a key, wide enough that later checks cannot overflow.

    Raises:
        ArgumentFault: they are no integers, or not `count` of them.
    """
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise ArgumentFault(f"{name} are no array of integers: {error}") from error
    if array.shape != (count,):
        raise ArgumentFault(f"{name} have shape {array.shape}; {count} keys need ({count},)")
    if array.dtype.kind not in "iu" and count:
        raise ArgumentFault(f"{name} are integers, not {array.dtype}")
    if array.dtype == np.uint64 and count and array.max() > np.iinfo(np.int64).max:
        raise ArgumentFault(f"{name} hold {array.max()}, which is past any buffer")
    return array.astype(np.int64, copy=False)


def seconds(name: str, given: Any) -> float:
    """Return a number of seconds, which may be negative or without end.

    Raises:
        ArgumentFault: it is no number.
    """
    if isinstance(given, bool) or not isinstance(given, Real) or math.isnan(given):
        raise ArgumentFault(f"{name} {given!r}: a number of seconds is needed")
    return float(given)
