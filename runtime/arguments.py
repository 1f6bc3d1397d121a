"""Numbers that a call is given: whatever the caller has in, checked ones out.

A fault names the argument and says what it takes; no caller meets the error of a comparison
or a conversion in here.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from xiokv.runtime.errors import ArgumentFault

# How alike two names are at least, of which one may have been meant for the other.
_NEAR = 0.5


def check_options(what: str, given: Iterable[str], allowed: Iterable[str]) -> None:
    """Refuse an option that there is not, by a name that is near it, if one is.

    Raises:
        ArgumentFault: one of `given` is not among `allowed`.
    """
    known = list(allowed)
    for name in given:
        if name not in known:
            near = get_close_matches(name.lower(), known, n=1, cutoff=_NEAR)
            all_of_them = f"allowed: {', '.join(known)}"
            advice = f"the nearest is {near[0]!r} ({all_of_them})" if near else all_of_them
            raise ArgumentFault(f"{what} has no option {name!r}; {advice}")


def integers(name: str, given: Any, count: int) -> npt.NDArray[np.int64]:
    """Return one integer a key, wide enough that later checks cannot overflow.

    Raises:
        ArgumentFault: they are no integers, or not `count` of them.
    """
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise ArgumentFault(f"{name} are no array of integers: {error}") from error
    if array.dtype.kind not in "iu" and array.size:
        raise ArgumentFault(f"{name} are integers of up to 64 bits, not {array.dtype}")
    if array.shape != (count,):
        raise ArgumentFault(f"{name} has shape {array.shape}; {count} keys need ({count},)")
    if array.dtype == np.uint64 and count and array.max() > np.iinfo(np.int64).max:
        raise ArgumentFault(f"{name} hold {array.max()}, which is past any that is allowed")
    return array.astype(np.int64, copy=False)


def integer(name: str, given: Any) -> int:
    """Return a whole number, whichever library's it is.

    Raises:
        ArgumentFault: it is no integer.
    """
    try:
        if not isinstance(given, (bool, np.bool_)):
            return operator.index(given)
    except TypeError:
        pass
    raise ArgumentFault(f"{name} is {given!r}; allowed is an integer")


def within(name: str, given: object, low: int, high: int) -> int:
    """Return an integer that is within limits.

    Raises:
        ArgumentFault: it is not, or no integer.
    """
    value = integer(name, given)
    if not low <= value <= high:
        raise ArgumentFault(f"{name} is {value}; allowed are {low} to {high}")
    return value


def number(name: str, given: Any) -> float:
    """Return a number, which may be negative or without end.

    Raises:
        ArgumentFault: it is none.
    """
    if isinstance(given, bool) or not isinstance(given, Real) or math.isnan(given):
        raise ArgumentFault(f"{name} is {given!r}; allowed is a number")
    return float(given)


def seconds(name: str, given: Any) -> float:
    """Return a time, which ends and is above 0.

    Raises:
        ArgumentFault: it is none.
    """
    time = number(name, given)
    if not 0 < time < math.inf:
        raise ArgumentFault(f"{name} {time}: a number of seconds above 0 is needed")
    return time
