"""A compiled module, found, checked against this process, and ready to launch.

In: a target or a place, or neither. Out: a `Module`. A module that is there but cannot be
used is an error that says what was built, what is running and where was looked; it is
never skipped.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xiokv.runtime import abi
from xiokv.runtime.description import Description, check_file, read_description
from xiokv.runtime.drivers.base import Driver
from xiokv.runtime.drivers.host import HostDriver
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.log import log
from xiokv.runtime.search import Found, find

if TYPE_CHECKING:
    from xiokv.runtime.controller import Controller
    from xiokv.runtime.kv import KV

TARGET_VARIABLE = "XIOKV_TARGET"

# In the order in which they are tried where nobody asks for one.
_DRIVERS: dict[str, Callable[[Path], Driver]] = {"host": HostDriver}
_IDENTITY = ("xiokv_module_abi", "xiokv_module_spec")


class Module:
    """A compiled module and the driver that runs its kernels.

    Attributes:
        target: kind of device.
        path: the module's file.
        description: what its module.json says.
        driver: runs its kernels.
    """

    def __init__(self, description: Description, driver: Driver) -> None:
        """Join a checked description and a driver; `load` does both."""
        self.target = description.target
        self.path = description.library
        self.description = description
        self.driver = driver

    def kernel(self, command: str) -> str:
        """Return the entry of a command."""
        try:
            return self.description.kernels[command]
        except KeyError:
            known = ", ".join(sorted(self.description.kernels))
            raise ArgumentFault(f"{self.path} has no command {command!r}; it has {known}") from None

    def attach(self, controller: Controller | None, **options: Any) -> KV:
        """Return the calls that work on queues of a controller: see `xiokv.runtime.kv.attach`."""
        from xiokv.runtime import kv

        return kv.attach(self, controller, **options)


def load(target: str | None = None, *, module: str | PathLike[str] | None = None) -> Module:
    """Find a module, check it and make it ready.

    Args:
        target: kind of device; $XIOKV_TARGET goes before it, and with neither it is the
            first that there is a driver for.
        module: the module's folder, file or description. Without it, the places are
            $XIOKV_MODULE, the compile folder of the nearest xiokv.toml and the user's
            cache, where the host module is compiled if it is not there.

    Raises:
        MissingFault: there is no module, and no compiler to make one.
        RuntimeFault: a module is there, but cannot be used.
    """
    asked = _asked(target)
    found = find(asked or next(iter(_DRIVERS)), module)
    try:
        description = read_description(found.place)
        _check_target(description, asked)
        loaded = _open(description)
    except RuntimeFault as fault:
        raise RuntimeFault("\n".join([str(fault), *_where(found)])) from fault
    log.info("loaded %s (%s), found by %s", loaded.path, description.built, found.source)
    return loaded


def _asked(target: str | None) -> str | None:
    named = os.environ.get(TARGET_VARIABLE)
    asked = named or target
    if asked is not None and asked not in _DRIVERS:
        source = f" (${TARGET_VARIABLE})" if named else ""
        raise ArgumentFault(
            f"target {asked!r}{source}: this version of xiokv has a driver for"
            f" {', '.join(_DRIVERS)}"
        )
    return asked


def _check_target(description: Description, asked: str | None) -> None:
    wanted = [asked] if asked else list(_DRIVERS)
    if description.target not in wanted:
        raise RuntimeFault(
            f"{description.library} was built for target {description.target!r}; what is"
            f" wanted is {' or '.join(wanted)}"
        )


def _open(description: Description) -> Module:
    """Load the file, after all that can be checked without loading it."""
    if description.arch != platform.machine():
        raise _refusal(description, f"is for {description.arch}, and this is {platform.machine()}")
    check_file(description)
    driver = _DRIVERS[description.target](description.library)
    _check_inside(description, driver)
    return Module(description, driver)


def _check_inside(description: Description, driver: Driver) -> None:
    """Compare what the module itself carries with the runtime and with its description."""
    missing = driver.missing([*_IDENTITY, *description.kernels.values()])
    if missing:
        raise _refusal(description, f"lacks {', '.join(missing)}")
    version, layout = driver.module_abi()
    if version != abi.VERSION:
        raise _refusal(description, f"has ABI version {version}, the runtime {abi.VERSION}")
    if layout != abi.layout_hash():
        raise _refusal(
            description,
            f"lays out its structures otherwise ({layout:016x}) than the runtime does"
            f" ({abi.layout_hash():016x})",
        )
    spec = driver.module_spec()
    if spec != description.spec:
        raise _refusal(
            description, f"holds spec {spec[:12]}, its description says {description.spec[:12]}"
        )


def _refusal(description: Description, reason: str) -> RuntimeFault:
    return RuntimeFault(
        f"{description.library} {reason}; run xiokv-gen build --target {description.target}\n"
        f"built: {description.built}\n"
        f"running: {platform.machine()}, ABI version {abi.VERSION}, layout {abi.layout_hash():016x}"
    )


def _where(found: Found) -> list[str]:
    return [f"found by {found.source}: {found.place}", *found.tried]
