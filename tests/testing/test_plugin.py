"""A small suite of a connector's author runs with the kit, and other suites do not see it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = """
import time

import pytest
from xiokv.runtime import DeadQueueFault, Outcome
from xiokv.runtime.testing import Faults, MakeRig

KEYS = [b"block-%d" % number for number in range(20)]
LOADED = []
pytestmark = pytest.mark.xiokv(block_size=64, queues=2, timeout=0.5, seed=7)


@pytest.fixture
def stored(xiokv_kv):
    values = bytes(range(256)) * 5
    xiokv_kv.store(KEYS, values).raise_for_status()
    return values


def fetch(kv):
    out = bytearray(64 * len(KEYS))
    return kv.retrieve(KEYS, out), out


def test_all_is_there(xiokv_kv, stored):
    result, out = fetch(xiokv_kv)
    result.raise_for_status()
    assert out == stored


def test_the_marker_is_obeyed(xiokv_kv):
    assert (xiokv_kv.block_size, len(xiokv_kv.queues)) == (64, 2)


@pytest.mark.xiokv(block_size=128)
def test_the_nearest_marker_counts(xiokv_kv):
    assert (xiokv_kv.block_size, len(xiokv_kv.queues)) == (128, 1)


def test_missing(xiokv_kv, xiokv_faults, stored):
    xiokv_faults.miss(KEYS[3:5])
    result, _ = fetch(xiokv_kv)
    assert result.counts == {Outcome.OK: 18, Outcome.MISSING: 2}
    assert xiokv_kv.exist(KEYS).counts == {Outcome.OK: 18, Outcome.MISSING: 2}
    xiokv_faults.clear()
    assert xiokv_kv.exist(KEYS).counts == {Outcome.OK: 20}


def test_late(xiokv_kv, xiokv_faults, stored):
    xiokv_faults.delay(KEYS[:1], 0.1)
    begin = time.monotonic()
    result, out = fetch(xiokv_kv)
    assert time.monotonic() - begin >= 0.1
    assert out == stored


@pytest.mark.parametrize("how", ["delay", "drop"])
def test_too_late(xiokv_kv, xiokv_faults, stored, how):
    if how == "drop":
        xiokv_faults.drop(KEYS[:1])
    else:
        xiokv_faults.delay(KEYS[:1], 2.0)
    result, _ = fetch(xiokv_kv)
    assert result.counts == {Outcome.OK: 19, Outcome.TIMEOUT: 1}
    with pytest.raises(DeadQueueFault):
        fetch(xiokv_kv)
    xiokv_faults.recover()
    assert fetch(xiokv_kv)[1] == stored


def test_truncated(xiokv_kv, xiokv_faults, stored):
    xiokv_faults.truncate(KEYS[2:3], 10)
    result, out = fetch(xiokv_kv)
    assert result.counts == {Outcome.OK: 20}
    assert result.value_size.tolist() == [64, 64, 10, *[64] * 17]
    assert out[128:138] == stored[128:138] and not any(out[138:192])


def test_larger_than_its_slot(xiokv_kv, xiokv_faults, stored):
    xiokv_faults.lengthen(KEYS[:1], 4)
    assert fetch(xiokv_kv)[0].counts == {Outcome.OK: 19, Outcome.TRUNCATED: 1}


def test_flipped(xiokv_kv, xiokv_faults, stored):
    xiokv_faults.flip(KEYS[5:7], bits=3)
    _, out = fetch(xiokv_kv)
    wrong = [bin(a ^ b).count("1") for a, b in zip(out, stored)]
    assert [sum(wrong[64 * at : 64 * at + 64]) for at in range(20)] == [0] * 5 + [3, 3] + [0] * 13


def test_errors(xiokv_kv, xiokv_faults, stored):
    xiokv_faults.fail(KEYS[:2], sct=1, sc=0x88, dnr=True)
    result, _ = fetch(xiokv_kv)
    assert result.counts == {Outcome.OK: 18, Outcome.ERROR: 2}
    assert result.nvme_status[0].item() == (1, 0x88, 1)


def test_hung(xiokv_kv, xiokv_faults, stored):
    xiokv_faults.hang()
    assert fetch(xiokv_kv)[0].counts == {Outcome.TIMEOUT: 20}
    xiokv_faults.recover()
    assert fetch(xiokv_kv)[1] == stored


def test_left_hung(xiokv_kv, xiokv_faults):
    xiokv_faults.hang()


def test_the_same_seed_makes_the_same_choices(xiokv_make):
    picked = [xiokv_make(seed=seed).faults.pick(KEYS, 5) for seed in (1, 1, 2)]
    assert picked[0] == picked[1] != picked[2]
    assert picked[0] == sorted(picked[0], key=KEYS.index)


@pytest.mark.parametrize("time", [1, 2])
def test_the_module_is_loaded_once(xiokv_module, time):
    LOADED.append(xiokv_module)
    assert LOADED[0] is xiokv_module


def test_two_controllers(xiokv_make):
    one, other = xiokv_make(block_size=64), xiokv_make(controller={"key_max": 8})
    one.kv.store([b"a"], bytes(64)).raise_for_status()
    assert other.kv.exist([b"a"]).counts == {Outcome.MISSING: 1}
    assert other.kv.limits.key_max == 8
"""
PASSED = 17


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_a_suite_runs_with_the_installed_plugin(suite: pytest.Pytester, workers: int) -> None:
    suite.makepyfile(test_connector=SUITE)
    result = suite.runpytest_subprocess("--strict-markers", "-n", str(workers))
    result.assert_outcomes(passed=PASSED)


MISTAKES = {
    "an option of nobody": ("xiokv(colour=1)", "*attach has no option 'colour'; allowed: *"),
    "an option without a name": ("xiokv(4096)", "*options have names, such as block_size=4096*"),
    "a wrong size": ("xiokv(block_size=3)", "*block_size 3*"),
    "a wrong controller": ("xiokv(controller={'key_max': -1})", "*key_max*"),
}


@pytest.mark.parametrize(("marker", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_wrong_marker_is_an_error_of_its_test(
    suite: pytest.Pytester, marker: str, said: str
) -> None:
    suite.makepyfile(
        f"import pytest\n@pytest.mark.{marker}\ndef test(xiokv_kv): pass\ndef test_other(): pass\n"
    )
    result = suite.runpytest_subprocess()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines([said])


def test_a_suite_without_the_kit_imports_nothing_of_it(suite: pytest.Pytester) -> None:
    """Neither NumPy nor the runtime's parts are there, no fixture is automatic, no option new."""
    suite.makepyfile(
        """
        import sys

        def test_nothing(request):
            assert request.fixturenames == ["request"]
            assert "numpy" not in sys.modules and "xiokv.runtime.module" not in sys.modules
            assert not hasattr(request.config.option, "xiokv")
        """
    )
    suite.runpytest_subprocess("-p", "no:hypothesispytest").assert_outcomes(passed=1)


def test_a_fixture_of_the_same_name_goes_before(suite: pytest.Pytester) -> None:
    suite.makeconftest("import pytest\n@pytest.fixture\ndef xiokv_module(): return 'mine'\n")
    suite.makepyfile("def test(xiokv_module): assert xiokv_module == 'mine'\n")
    suite.runpytest_subprocess().assert_outcomes(passed=1)


def test_the_package_is_imported_without_pytest(suite: pytest.Pytester) -> None:
    script = (
        "import sys; sys.modules['pytest'] = None\n"
        "from xiokv.runtime import testing; assert testing.Faults and testing.Rig\n"
        "try:\n    import xiokv.runtime.testing.plugin\n"
        "except ImportError: print('no pytest')\n"
    )
    result = suite.run(sys.executable, "-c", script)
    assert result.outlines == ["no pytest"]


def test_this_checkout_has_the_kit_where_no_entry_point_names_it() -> None:
    """As where its packages are found by PYTHONPATH alone."""
    command = [sys.executable, "-m", "pytest", "--fixtures", str(Path(__file__).parent)]
    surroundings = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=True)
    assert "\nxiokv_make " in done.stdout
