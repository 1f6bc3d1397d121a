"""The case table: one test, run on the host, on AMD code objects and on an NVIDIA GPU.

AMD code objects run in software, in a process for each architecture that has the stand-in
for AMD's library. A test that needs a GPU is skipped, and says so, where there is none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.targets.device import ARCHITECTURES, Target
from tests.targets.elsewhere import CHANNEL, Elsewhere
from xiokv.runtime import Place

NAMES = ("host", *ARCHITECTURES, "cuda")

_elsewhere = pytest.StashKey[dict[str, Elsewhere]]()


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks that are used here; the second is pytest-xdist's, which may be absent."""
    config.addinivalue_line("markers", "targets(name, ...): run on these targets alone")
    config.addinivalue_line("markers", "xdist_group(name): run in one process")
    config.stash[_elsewhere] = {}


def pytest_unconfigure(config: pytest.Config) -> None:
    """End what ran elsewhere."""
    for process in config.stash.get(_elsewhere, {}).values():
        process.close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test on every target, and with a `place` for values also in each kind of memory."""
    if "target" not in metafunc.fixturenames:
        return
    mark = metafunc.definition.get_closest_marker("targets")
    names = mark.args if mark else NAMES
    if "place" not in metafunc.fixturenames:
        cases = [pytest.param(name, id=name, marks=_marks(name)) for name in names]
        metafunc.parametrize("target", cases, indirect=True)
        return
    cases = [
        pytest.param(name, place, id=f"{name}-{place.name.lower()}", marks=_marks(name))
        for name in names
        for place in Place
        if name != "host" or place is Place.HOST  # to the host both are the same
    ]
    metafunc.parametrize(("target", "place"), cases, indirect=["target"])


def _marks(name: str) -> list[pytest.MarkDecorator]:
    """Let one process of pytest-xdist have all tests that run in one process elsewhere."""
    return [pytest.mark.xdist_group(name)] if name in ARCHITECTURES else []


@pytest.fixture(scope="session", autouse=True)
def _surroundings(own_surroundings: None) -> None:
    """Work in the checkout's own surroundings."""


@pytest.fixture
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """Return the device that the test runs on."""
    with ExitStack() as stack:
        yield Target("hip" if request.param in ARCHITECTURES else request.param, stack)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test of AMD code objects elsewhere."""
    callspec = getattr(pyfuncitem, "callspec", None)
    name = callspec.params.get("target") if callspec else None
    if name not in ARCHITECTURES or CHANNEL in os.environ:
        return None
    # pytest-xdist adds the group to the name.
    reports = _process(pyfuncitem, name).run(pyfuncitem.nodeid.split("@")[0])
    for data in reports:
        report = pyfuncitem.config.hook.pytest_report_from_serializable(
            config=pyfuncitem.config, data=data
        )
        if report.skipped:
            pytest.skip(report.longrepr[2])
        if report.when == "call":
            print(report.capstdout, end="")
        if report.failed:
            pytest.fail(f"elsewhere, at {report.when}:\n{report.longreprtext}", pytrace=False)
    return True


def _process(item: pytest.Item, name: str) -> Elsewhere:
    processes = item.config.stash[_elsewhere]
    if name not in processes or not processes[name].is_there:
        processes[name] = Elsewhere(ARCHITECTURES[name])
    return processes[name]
