"""A compiled module, found, checked against this process, and ready to launch.

In: a target or a place, or neither. Out: a `Module`. A module that is there but cannot be
used is an error that says what was built, what is running and where was looked; it is
never skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from xiokv.runtime import abi
from xiokv.runtime.arguments import check_options, integer
from xiokv.runtime.buffer import Buffer
from xiokv.runtime.description import Description, check_file, read_description
from xiokv.runtime.devices import TARGETS, Device, open_device
from xiokv.runtime.drivers.base import Driver, Place
from xiokv.runtime.errors import ArgumentFault, RuntimeFault
from xiokv.runtime.images import Image, choose_image
from xiokv.runtime.log import log
from xiokv.runtime.operation import Operation
from xiokv.runtime.search import Found, find, in_project, named

if TYPE_CHECKING:
    from xiokv.runtime.controller import Controller
    from xiokv.runtime.kv import KV

TARGET_VARIABLE = "XIOKV_TARGET"

_IDENTITY = ("xiokv_module_abi", "xiokv_module_spec")


class Module:
    """A compiled module and the driver that runs its kernels.

    Attributes:
        target: kind of device.
        path: the module's file for this device.
        description: what its module.json says.
        image: what it says of that file.
        driver: runs its kernels.
    """

    def __init__(self, description: Description, image: Image, driver: Driver) -> None:
        """Join a checked description, one of its files and a driver; `load` does all."""
        self.target = description.target
        self.path = image.file
        self.description = description
        self.image = image
        self.driver = driver

    def kernel(self, command: Operation) -> str:
        """Return the entry of a command."""
        try:
            return self.description.kernels[command.word]
        except KeyError:
            known = ", ".join(sorted(self.description.kernels))
            raise ArgumentFault(f"{self.path} has no command {command}; it has {known}") from None

    def attach(self, controller: Controller | None, **options: Any) -> KV:
        """Return the calls on queues of a controller: see `xiokv.runtime.attach.attach`."""
        from xiokv.runtime.attach import OPTIONS, attach

        check_options("attach", options, OPTIONS)
        return attach(self, controller, **options)

    def empty(self, nbytes: int, *, place: Place = Place.DEVICE) -> Buffer:
        """Return zeroed memory for values that the driver takes as it is.

        Memory on the host is also a child's of fork, not a copy of it: what either writes,
        both have.

        Args:
            nbytes: how much.
            place: in the device, or page-locked on the host; a host module has the latter.
        """
        size = integer("nbytes", nbytes)
        if size < 0:
            raise ArgumentFault(f"nbytes {size}: 0 or more is needed")
        if not isinstance(place, Place):
            raise ArgumentFault(f"place is {place!r}; Place.DEVICE and Place.HOST are allowed")
        return Buffer(self.driver.allocate(size, place, shared=True))

    def stream(self) -> Any:
        """Return a new stream of the driver, to run batches in; it is closed after use."""
        return self.driver.stream()


def load(
    target: str | None = None, *, module: str | PathLike[str] | None = None, device: int = 0
) -> Module:
    """Find a module, check it and make it ready.

    Args:
        target: kind of device; $XIOKV_TARGET goes before it. With neither it is that of the
            module that is named, or the first of cuda, hip and host that has a device.
        module: the module's folder, file or description. Without it, the places are
            $XIOKV_MODULE, the compile folder of the nearest xiokv.toml and the user's
            cache, where the module is compiled if it is not there.
        device: number of the device.

    Raises:
        MissingFault: there is no device or what reaches it, or there is no module and no
            compiler to make one.
        RuntimeFault: a module or a device is there, but cannot be used.
    """
    asked = _asked(target)
    with _telling(asked.told):
        loaded, found = _loaded(asked.target, module, integer("device", device))
    if asked.overruled:
        log.warning("%s", asked.told)
    log.info("loaded %s (%s), found by %s", loaded.path, loaded.description.built, found.source)
    return loaded


@dataclass(frozen=True, slots=True)
class _Asked:
    """The target that is asked for, if any, and by whom where that is not the caller."""

    target: str | None
    forced: bool = False
    overruled: str | None = None

    @property
    def told(self) -> str:
        """A line for messages; empty where the caller knows it all."""
        if not self.forced:
            return ""
        other = f", which overrules {self.overruled}" if self.overruled else ""
        return f"target: {self.target} (${TARGET_VARIABLE}){other}"


def _asked(target: str | None) -> _Asked:
    forced = os.environ.get(TARGET_VARIABLE)
    asked = _Asked(forced, True, target if target != forced else None) if forced else _Asked(target)
    if asked.target is not None and asked.target not in TARGETS:
        with _telling(asked.told):
            raise ArgumentFault(
                f"target {asked.target!r}{f' (${TARGET_VARIABLE})' if forced else ''}: this"
                f" version of xiokv has a driver for {', '.join(TARGETS)}"
            )
    return asked


def _loaded(
    target: str | None, module: str | PathLike[str] | None, device: int
) -> tuple[Module, Found]:
    """Find, check and open a module on a device."""
    found = named(module) or (in_project(target) if target else None)
    description = _described(found) if found else None
    chosen = open_device(target or (description.target if description else None), device)
    if found is None or description is None:
        found = find(chosen.target, chosen.architecture)
        description = _described(found)
    with _telling(*found.lines):
        return _open(description, chosen), found


def _described(found: Found) -> Description:
    """Read a description, and look at all its files: what runs them may not be installed."""
    with _telling(*found.lines):
        description = read_description(found.place)
        if description.target not in TARGETS:
            raise RuntimeFault(
                f"{description.library} was built for target {description.target!r}; this"
                f" version of xiokv has a driver for {', '.join(TARGETS)}"
            )
        for image in description.images:
            check_file(description, image)
    return description


@contextmanager
def _telling(*lines: str) -> Iterator[None]:
    """Let a fault end with lines that say what led to it; empty ones are left out."""
    try:
        yield
    except RuntimeFault as fault:
        fault.args = ("\n".join(filter(None, [str(fault), *lines])),)
        raise


def _open(description: Description, device: Device) -> Module:
    """Load the file, after all that can be checked without loading it."""
    if description.target != device.target:
        raise RuntimeFault(
            f"{description.library} was built for target {description.target!r}; what is"
            f" wanted is {device.target}"
        )
    image = choose_image(description, device.architecture)
    module = Module(description, image, device.open(image))
    _check_inside(module, device.architecture)
    return module


def _check_inside(module: Module, running: str) -> None:
    """Compare what the module itself carries with the runtime and with its description."""
    fault = _misfit(module.description, module.driver)
    if fault:
        description = module.description
        raise RuntimeFault(
            f"{module.path} {fault}; run xiokv-gen build --target {module.target}\n"
            f"built: {description.built}\n"
            f"running: {running}, ABI version {abi.VERSION}, layout {abi.layout_hash():016x}"
        )


def _misfit(description: Description, driver: Driver) -> str:
    """Return what does not fit, if anything."""
    missing = driver.missing([*_IDENTITY, *description.kernels.values()])
    if missing:
        return f"lacks {', '.join(missing)}"
    version, layout = driver.module_abi()
    if version != abi.VERSION:
        return f"has ABI version {version}, the runtime {abi.VERSION}"
    if layout != abi.layout_hash():
        return (
            f"lays out its structures otherwise ({layout:016x}) than the runtime does"
            f" ({abi.layout_hash():016x})"
        )
    spec = driver.module_spec()
    if spec != description.spec:
        return f"holds spec {spec[:12]}, its description says {description.spec[:12]}"
    return ""
