"""Controllers that end a command themselves, and the deadline of what is attached to them."""

from __future__ import annotations

from typing import Any

import pytest

from xiokv.runtime.controller import Controller, Patient, patience_of
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.errors import ArgumentFault
from xiokv.runtime.gpu.relay import Relay

from . import queue_fakes


class Waiting(Emulator):
    """An embedded controller that says that it waits for what is behind it."""

    def __init__(self, patience: Any) -> None:
        super().__init__()
        self.patience = patience


def test_a_controller_has_no_need_to_be_patient() -> None:
    plain: Controller = queue_fakes.Controller()
    assert not isinstance(plain, Patient)
    assert patience_of(plain) == 0


@pytest.mark.parametrize(("patience", "timeout"), [(0, 5), (3.5, 5), (4.5, 5.5), (60, 61)])
def test_queues_are_given_up_after_a_controller_has_had_its_time(
    module: Any, caplog: pytest.LogCaptureFixture, patience: float, timeout: float
) -> None:
    with Waiting(patience) as controller:
        assert isinstance(controller, Patient)
        with module.attach(controller, depth=8) as kv:
            assert kv.timeout == timeout
    assert caplog.messages == []


def test_a_timeout_that_is_no_longer_than_that_is_warned_of(
    module: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with Waiting(4.5) as controller, module.attach(controller, depth=8, timeout=4.5) as kv:
        assert kv.timeout == 4.5
    (said,) = caplog.messages
    assert said.startswith("queues are given up after 4.5 s without a completion, and their")


def test_a_relay_waits_as_long_as_what_it_relays_to(module: Any) -> None:
    with Waiting(7.0) as controller, Relay(controller, module) as relay:
        assert patience_of(relay) == 7
        with module.attach(relay, depth=8) as kv:
            assert kv.timeout == 8


@pytest.mark.parametrize(
    ("patience", "said"),
    [
        ("4", "patience is '4'; allowed is a number"),
        (-1, "is -1.0; allowed are seconds"),
        (float("inf"), "is inf; allowed"),
        (None, "is None; allowed is a number"),
    ],
)
def test_a_patience_that_is_no_time_is_refused(module: Any, patience: Any, said: str) -> None:
    with Waiting(patience) as controller, pytest.raises(ArgumentFault, match=said):
        module.attach(controller, depth=8)
