"""The baselines as AMD code objects, whose lanes run in lockstep: none waits for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.amdgpu import machine
from xiokv.runtime import toolchain
from xiokv.runtime.bench.baselines import recipe
from xiokv.runtime.bench.job import Job, Load
from xiokv.runtime.emulator import Emulator
from xiokv.runtime.errors import MissingFault
from xiokv.runtime.module import load

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "tests" / "baselines"
LANES = 256
# Above what a run takes: a kernel that does not end gets there.
MOST_INSTRUCTIONS = 3_000_000
INSTRUCTIONS_A_TURN = 4_000
ENTRIES_A_TURN = 200


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(ROOT / "build" / "cache"))


def image_for(architecture: str) -> machine.Image:
    """Return the baselines as a loaded code object."""
    missing = machine.missing_tools()
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    try:
        made = recipe("hip", architecture)
        path = toolchain.build(made, KEPT / made.key(made.find_compiler()))
    except MissingFault as fault:
        pytest.skip(str(fault))
    return machine.Image(path.read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["gfx1100", "gfx942"])
@pytest.mark.parametrize(
    ("shape", "keys"), [("reference", 300), ("lean_reference", 300), ("each", 3 * LANES)]
)
def test_lanes_in_lockstep_come_to_an_end(architecture: str, shape: str, keys: int) -> None:
    with (
        image_for(architecture) as image,
        Emulator(threads=0, null=True) as controller,
        Job(load("host").driver, controller, Load(1, keys, 64, apart=False)) as job,
    ):
        controller.fault("reorder", amount=16)
        batch = job.batch(keys)
        with image.start(
            f"xiokv_batch_{shape}",
            bytes(batch),
            lanes=(LANES,),
            flags=machine.WEAK,
            limit=MOST_INSTRUCTIONS,
        ) as run:
            while run.step(INSTRUCTIONS_A_TURN):
                for _ in range(ENTRIES_A_TURN):
                    controller.step(1)
        job.check_outcomes(shape, keys)
