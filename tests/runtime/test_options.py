"""Options by a wrong name: refused with the nearest, before anything is made."""

from __future__ import annotations

from typing import Any

import pytest

from xiokv.runtime import Emulator
from xiokv.runtime.errors import ArgumentFault


@pytest.mark.parametrize(
    ("given", "nearest"),
    [("valuemax", "value_max"), ("keymax", "key_max"), ("Strict", "strict")],
)
def test_an_option_of_the_controller_that_is_misspelt(given: str, nearest: str) -> None:
    said = (
        rf"^Emulator has no option '{given}'; the nearest is '{nearest}' \(allowed: threads, cpus, "
    )
    with pytest.raises(ArgumentFault, match=said):
        Emulator(**{given: 1})


@pytest.mark.parametrize(
    ("given", "nearest"),
    [("blocksize", "block_size"), ("time_out", "timeout"), ("queue", "queues")],
)
def test_an_option_of_attach_that_is_misspelt(module: Any, given: str, nearest: str) -> None:
    said = f"^attach has no option '{given}'; the nearest is '{nearest}' .allowed: queues, depth, "
    with Emulator(threads=0) as controller, pytest.raises(ArgumentFault, match=said):
        module.attach(controller, **{given: 1})
