"""The soak for real hardware, short: it holds where all is right, and sees what is not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from tests import native
from tests.targets.device import Target
from xiokv.runtime import Emulator, Outcome

FOLDER = native.ROOT / "scripts" / "soak"


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the soak's own module."""
    monkeypatch.syspath_prepend(FOLDER)
    return import_module("soak")


@pytest.fixture
def controller() -> Iterator[Emulator]:
    with Emulator(seed=5) as controller:
        yield controller


def begin(soak: Any, target: Target, controller: Emulator) -> Any:
    return soak.Soak(target.module, controller, queues=2, depth=64, keys=3000, seed=5)


def test_all_is_right(target: Target, soak: Any, controller: Emulator) -> None:
    """Every outcome, length and byte, and what was reported is what came unasked."""
    running = begin(soak, target, controller)
    running.run(30_000)
    tally = running.tally
    assert tally.commands >= 30_000
    assert set(tally.outcomes) == {"OK", "TRUNCATED", "MISSING", "ERROR"}
    assert min(tally.reports.values()) > 0
    running.close()


def a_key(running: Any) -> int:
    """Return the number of a key whose value comes back whole."""
    fits = running.expected.outcomes[: running.expected.count] == Outcome.OK
    return int((fits & (running.expected.value_sizes[: running.expected.count] == 40)).argmax())


WRONG: dict[str, dict[str, Any]] = {
    "a length": {"kind": "bad_size", "amount": 5},
    "success without a value": {"kind": "status"},
    "an outcome": {"kind": "status", "sc": 0x87},
    "an error that nobody injected": {"kind": "status", "sc": 0x86},
}


@pytest.mark.parametrize("fault", WRONG.values(), ids=WRONG)
def test_one_key_that_is_wrong_is_seen(
    target: Target, soak: Any, controller: Emulator, fault: dict[str, Any]
) -> None:
    """The message shows it beside what was expected."""
    running = begin(soak, target, controller)
    key = a_key(running)
    controller.fault(key=running.expected.keys[key].tobytes(), **fault)
    with pytest.raises(soak.Wrong, match=f"1 of 3000 keys are wrong; .*, key {key}:"):
        running.run(3000)
    running.close()


def test_one_byte_of_a_value_that_is_wrong_is_seen(
    target: Target, soak: Any, controller: Emulator
) -> None:
    """A value of the right length, stored by somebody else."""
    running = begin(soak, target, controller)
    key = a_key(running)
    value = running.expected.values[key, :40].copy()
    value[39] ^= 1
    with target.module.attach(controller, depth=4) as kv:
        kv.store([running.expected.keys[key].tobytes()], [value], copy=True).raise_for_status()
    with pytest.raises(soak.Wrong, match=f"1 of 3000 keys are wrong; .*, key {key}:"):
        running.run(3000)
    running.close()


def test_one_byte_past_a_value_that_is_wrong_is_seen(
    target: Target, soak: Any, controller: Emulator
) -> None:
    """As if a value had been longer than its length says."""
    running = begin(soak, target, controller)
    running.outs[0].view[64 * 700 + 63] ^= 1
    with pytest.raises(soak.Wrong, match="1 of 3000 keys are wrong; the first is entry 700,"):
        running.run(3000)
    running.close()


def test_the_program_ends_with_its_figures() -> None:
    """A line that sums up, a JSON object, and exit status 0."""
    done = subprocess.run(
        [sys.executable, FOLDER, "--commands", "50000", "--queues", "2", "--seed", "3"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said, figures = done.stdout.splitlines()
    assert said.startswith("all right: ")
    assert json.loads(figures)["commands"] >= 50_000
