"""The fixtures and the marker of the test kit; all names begin with xiokv.

No fixture is automatic, there are no options, and what a fixture needs is imported when a
test asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from xiokv.runtime import KV, Emulator, Module
    from xiokv.runtime.testing import Faults, MakeRig, Rig

_MARKER = (
    "xiokv(**options): what xiokv_rig is made with: seed, controller (a dict of the embedded"
    " controller's options), and the options of Module.attach, such as block_size and queues"
)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture(scope="session")
def xiokv_module() -> Module:
    """Return the module that the kit attaches: the host module; override it for another."""
    from xiokv import runtime

    return runtime.load("host")


@pytest.fixture
def xiokv_make(xiokv_module: Module) -> Iterator[MakeRig]:
    """Return a function that makes a `Rig`, with the options of the marker."""
    from xiokv.runtime.testing.rig import make_rig

    with ExitStack() as stack:

        def make(
            *, seed: int = 0, controller: dict[str, object] | None = None, **options: object
        ) -> Rig:
            rig = make_rig(xiokv_module, seed=seed, controller=controller, **options)
            return stack.enter_context(rig)

        yield make


@pytest.fixture
def xiokv_rig(request: pytest.FixtureRequest, xiokv_make: MakeRig) -> Rig:
    """Return a controller and what is attached to it, as the test's marker says."""
    marker = request.node.get_closest_marker("xiokv")
    if marker is not None and marker.args:
        raise pytest.UsageError(
            f"{request.node.nodeid}: pytest.mark.xiokv({marker.args[0]!r}): options have names,"
            " such as block_size=4096"
        )
    return xiokv_make(**(marker.kwargs if marker else {}))


@pytest.fixture
def xiokv_controller(xiokv_rig: Rig) -> Emulator:
    """Return the embedded controller."""
    return xiokv_rig.controller


@pytest.fixture
def xiokv_kv(xiokv_rig: Rig) -> KV:
    """Return the calls on the controller."""
    return xiokv_rig.kv


@pytest.fixture
def xiokv_faults(xiokv_rig: Rig) -> Faults:
    """Return what makes the controller go wrong."""
    return xiokv_rig.faults
