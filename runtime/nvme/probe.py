"""What `xiokv probe` tells of a namespace: limits, and how a few commands went."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from xiokv.runtime.abi import Outcome
from xiokv.runtime.controller import Controller
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.errors import RuntimeFault
from xiokv.runtime.kv import KV
from xiokv.runtime.module import load
from xiokv.runtime.nvme.device import Passthrough, passthrough
from xiokv.runtime.results import BatchFault, Result

_LISTED = 5
_VALUE_BYTES = 4096
_MICROSECONDS = 1e6


def probe(path: str | None, *, write: bool) -> dict[str, Any]:
    """Return what is found, by name.

    Args:
        path: the namespace's character device; None for the embedded controller.
        write: store a value, too, and delete it again.

    Raises:
        RuntimeFault: a command went wrong, or a value came back otherwise than it was stored.
    """
    with Emulator() if path is None else passthrough(path) as controller:
        found = {"device": path or "embedded controller", **_limits(controller)}
        try:
            with load("host").attach(controller) as kv:
                found |= _read(kv)
                return found | _written(kv) if write else found
        except BatchFault as fault:
            raise RuntimeFault(f"{fault}{_said_by_system(controller)}") from fault


def _said_by_system(controller: Controller) -> str:
    """Return why calls did not get to the device, which no status says."""
    error = controller.counters().last_error if isinstance(controller, Passthrough) else ""
    return f"\n  the system refused the call: {error}" if error else ""


def _limits(controller: Controller) -> dict[str, Any]:
    limits = controller.limits(1)
    return {
        "nsid": getattr(controller, "nsid", 1),
        "key_max_bytes": limits.key_max,
        "value_max_bytes": limits.value_max,
        "transfer_max_bytes": limits.transfer_max,
    }


def _read(kv: KV) -> dict[str, Any]:
    key = _random_key(kv)
    asked, microseconds = _timed(lambda: kv.exist([key]))
    first = list(kv.list(limit=_LISTED))
    return {
        "random_key": _word(asked),
        "exist_us": microseconds,
        "first_keys": [listed.hex() for listed in first],
    }


def _written(kv: KV) -> dict[str, Any]:
    key = _random_key(kv)
    value = np.frombuffer(os.urandom(min(_VALUE_BYTES, kv.limits.value_max)), np.uint8)
    stored, store_us = _timed(lambda: kv.store([key], value, if_absent=True))
    if stored.status[0] != Outcome.OK:
        raise RuntimeFault(f"Store of a new key: {_word(stored)}")
    out = np.zeros_like(value)
    try:
        _, retrieve_us = _timed(lambda: kv.retrieve([key], out))
    finally:
        _, delete_us = _timed(lambda: kv.delete([key]))
    if not (out == value).all():
        raise RuntimeFault("the value came back otherwise than it was stored")
    return {"store_us": store_us, "retrieve_us": retrieve_us, "delete_us": delete_us}


def _timed(call: Callable[[], Result]) -> tuple[Result, float]:
    """Return a result that is no error, and how long it took in microseconds."""
    begin = time.perf_counter()
    result = call()
    took = (time.perf_counter() - begin) * _MICROSECONDS
    result.raise_for_status()
    return result, took


def _word(result: Result) -> str:
    return Outcome(int(result.status[0])).name


def _random_key(kv: KV) -> bytes:
    return os.urandom(kv.limits.key_max)
