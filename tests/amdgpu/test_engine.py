"""The shipped code objects against the embedded controller, on the software machine.

Memory is as weak as the architecture allows. All that happens is decided by a seed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import native
from tests.engine.conftest import CASES, EMULATOR, INCLUDE, PLAY, SEEN, Outcome, run
from xiokv.runtime import toolchain
from xiokv.runtime.emulator import library

from . import machine
from .faults import FAULTS
from .kernels import changed, code_object

HERE = Path(__file__).resolve().parent
PLAYS = HERE.parent / "engine"

ARCHITECTURES = ("gfx90a", "gfx942", "gfx1100", "gfx1151", "gfx1201")
# Cases of tens of thousands of commands.
LONG = {"depth 65536, more than 65536 commands"}
SEEDS = 24


@pytest.fixture(scope="module")
def explorer(own_surroundings: None) -> Path:
    """Return the program that plays scenarios and cases on code objects."""
    if missing := machine.missing_tools():
        pytest.skip(f"not installed: {', '.join(missing)}")
    units = [*sorted((HERE / "engine").glob("*.cpp")), *(PLAYS / f"{name}.cpp" for name in PLAY)]
    libraries = (machine.build(), toolchain.build_cached(library.recipe()))
    return native.program(
        "explore-code-objects", units, include=(INCLUDE, EMULATOR, PLAYS), link=libraries
    )


def play(explorer: Path, objects: list[Path], *arguments: str | int) -> Outcome:
    return run(explorer, *map(str, objects), "--", *arguments)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_key_gets_its_own_result_whatever_the_interleaving(
    architecture: str, explorer: Path
) -> None:
    outcome = play(explorer, [code_object(architecture)], "seeds", 1, SEEDS)
    assert outcome.held, outcome.said
    assert outcome.tally["scenarios"] == SEEDS
    assert {key for key in SEEN if outcome.tally.get(key)} == SEEN
    assert outcome.tally.get("none") is None


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", [name for name in CASES if name not in LONG])
def test_every_case_comes_out_as_it_has_to(name: str, architecture: str, explorer: Path) -> None:
    outcome = play(explorer, [code_object(architecture)], "case", name, 1)
    assert outcome.held, outcome.said


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LONG))
def test_every_long_case_comes_out_as_it_has_to(name: str, explorer: Path) -> None:
    outcome = play(explorer, [code_object("gfx1100")], "case", name, 1)
    assert outcome.held, outcome.said


WRAPS = "tables in the queue's memory that wrap"

# Faults in the engine: a case that has to find each, or "" for the scenarios.
FOUND_BY = {
    "no release before the doorbell": "",
    "a release as far as the GPU": "",
    "a release by the first wave alone": "",
    "no release at barriers": "",
    "no acquire of any kind": WRAPS,
    "no acquire at barriers": WRAPS,
    "no acquire after the phase match": WRAPS,
    "no barriers": "",
    "no barrier in a round": "",
    "the doorbell before the barrier": "",
    "no second read": "",
    "no second read of an entry loaded dword by dword": "",
    "an entry loaded through the caches after no acquire": "",
    "the CQ doorbell after the SQ doorbell": "",
}
# How many scenarios have to find one; most need few.
BOUND = 300

_WAITS = "the compiler waits for all stores before every barrier, and no cache holds them back"
_NEAR = "the waves of a workgroup share the cache that is nearest to them"
_PAST = "the second read passes by the caches, and no wave reads else what a controller wrote"
_ONE = "one acquire a round, before what waves read of each other, will do"
_WHOLE = "a copy is of one moment, and so is what is read from it twice"

# What an architecture does not need, and why.
NOT_NEEDED = {
    ("no release before the doorbell", "gfx1100"): _WAITS,
    ("a release as far as the GPU", "gfx1100"): _WAITS,
    ("a release by the first wave alone", "gfx1100"): _WAITS,
    ("no release at barriers", "gfx1100"): _WAITS,
    ("no acquire of any kind", "gfx942"): f"{_PAST}, and {_NEAR}",
    ("no acquire at barriers", "gfx942"): _NEAR,
    ("no acquire at barriers", "gfx1100"): _ONE,
    ("no acquire after the phase match", "gfx942"): _PAST,
    ("no acquire after the phase match", "gfx1100"): f"{_PAST}, and {_ONE}",
    ("an entry loaded through the caches after no acquire", "gfx1100"): _WHOLE,
}


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", FOUND_BY)
def test_a_fault_put_into_the_engine_is_found(name: str, architecture: str, explorer: Path) -> None:
    needed = (name, architecture) not in NOT_NEEDED
    case = FOUND_BY[name]
    arguments = ("case", case, 1) if case else ("seeds", 1, BOUND if needed else SEEDS)
    # The commands beside this one are the shipped ones.
    objects = [code_object(architecture), changed(architecture, "retrieve", FAULTS[name])]
    outcome = play(explorer, objects, *arguments)
    assert outcome.held != needed, outcome.said
