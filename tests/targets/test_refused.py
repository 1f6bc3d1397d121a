"""What a controller or a driver does not take is refused before anything is submitted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.targets.device import Target, content, keys_of, random_values
from xiokv.runtime import ArgumentFault, Place

ATTACH: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "depth above MQES": ({"mqes": 63}, {"depth": 65}, "depth 65: 2 to 64.*MQES"),
    "more queues": ({"queues": 2}, {"queues": 3}, "queues 3: 1 to 2"),
    "block above MDTS": ({"mdts": 1}, {"block_size": 8196}, "block_size 8196.*8192.*MDTS"),
}


@pytest.mark.parametrize(("controller", "options", "said"), ATTACH.values(), ids=ATTACH)
def test_attach_refuses(target: Target, controller: Any, options: Any, said: str) -> None:
    """What the controller does not allow, it is not asked for."""
    with pytest.raises(ArgumentFault, match=said):
        target.attach(controller, **options)


@pytest.mark.parametrize(
    ("command", "what"), [("store", "value 0 has"), ("retrieve", "slot 0 is to take")]
)
def test_a_value_above_mdts_is_refused(
    target: Target, place: Place, command: str, what: str
) -> None:
    """The message says how much is allowed, and no command was sent."""
    controller, kv = target.attach({"mdts": 1})
    values = target.module.empty(8196, place=place)
    with pytest.raises(ArgumentFault, match=f"{what} 8196 bytes; 0 to 8192"):
        getattr(kv, command)([b"a"], values)
    assert controller.counters().commands == 0


def read_only(view: Any) -> Any:
    view = view[:]
    view.flags.writeable = False
    return view


BUFFERS: dict[str, tuple[Any, str]] = {
    "too small": (lambda view: view[:124], "out has 124 bytes; 2 keys of block_size 64 need 128"),
    "strided": (lambda view: view.reshape(-1, 8)[:, 0], "out is not in one piece"),
    "read-only": (read_only, "out is read-only"),
    "objects": (lambda view: np.array([view, None], object), "dtype object"),
    "no buffer": (lambda view: 5, "out is a int, which gives no buffer"),
    "begins between": (lambda view: view[1:129], "multiple"),
}


@pytest.mark.parametrize(("change", "said"), BUFFERS.values(), ids=BUFFERS)
def test_a_buffer_that_does_not_fit_is_refused(target: Target, change: Any, said: str) -> None:
    """Memory that the device reaches, but as it lies no command can fill it."""
    controller, kv = target.attach(block_size=64)
    buffer = target.module.empty(256, place=Place.HOST)
    with pytest.raises(ArgumentFault, match=said):
        kv.retrieve(keys_of(2), change(buffer.view))
    assert controller.counters().commands == 0


@pytest.mark.targets("gfx942", "gfx1100", "cuda")
def test_pageable_memory_is_copied_only_when_asked(target: Target) -> None:
    """A controller of a GPU's driver does not reach it: the message names the ways out."""
    controller, kv = target.attach(block_size=64)
    keys, values = keys_of(300), random_values(300, 64)
    out = np.zeros_like(values)
    with pytest.raises(ArgumentFault, match="copy=True"):
        kv.store(keys, values)
    assert controller.counters().commands == 0
    kv.store(keys, values, copy=True).raise_for_status()
    kv.retrieve(keys, out, copy=True).raise_for_status()
    assert (out == values).all()


def test_views_of_page_locked_memory_are_used_where_they_lie(target: Target) -> None:
    """NumPy's arrays over it, with any dtype: its bytes count."""
    _, kv = target.attach(block_size=64)
    keys, values = keys_of(4), random_values(4, 64)
    buffer = target.memory(np.concatenate([values, np.zeros_like(values)]))
    kv.store(keys, buffer.view[:256].view("<f8")).raise_for_status()
    kv.retrieve(keys, buffer.view[256:].reshape(4, 64)).raise_for_status()
    assert (content(buffer, buffer.view)[256:] == values.reshape(-1)).all()
