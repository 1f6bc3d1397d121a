"""xiokv bench on an AMD GPU's driver: timers by events, baselines, copies by the CPU."""

from __future__ import annotations

import json

import pytest

from tests.tool import TOOL

from .standin_process import Standin


@pytest.mark.slow
@pytest.mark.usefixtures("own_surroundings")
def test_tables_of_a_gpu_are_measured(standin: Standin) -> None:
    done = standin.run(
        *TOOL, "bench", "--target", "hip", "--quick", "--only", "floor,device", "--json"
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["setting"]["target"] == "hip"
    assert told["setting"]["architecture"].startswith("gfx")
    whos = {(row["table"], row["who"]) for row in told["rows"]}
    assert whos == {
        ("floor", "ping-pong"),
        ("floor", "empty launch"),
        ("device", "CPU, copy a block"),
        ("device", "CPU, one copy"),
        ("device", "D2H + H2D"),
        ("device", "engine"),
    }
    assert all(row["low"] > 0 for row in told["rows"])
