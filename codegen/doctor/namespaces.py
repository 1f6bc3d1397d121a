"""Findings about NVMe namespaces: the character devices that take Key-Value commands.

The kernel makes a block device only for namespaces whose command set it knows as blocks, so
one without may be Key-Value; its Identify data, which needs a command, would say.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from xiokv.codegen.doctor.devices import usable
from xiokv.codegen.doctor.finding import Finding
from xiokv.codegen.doctor.machine import Machine

_NAME = "NVMe namespaces"


def namespaces(machine: Machine) -> Iterator[Finding]:
    """Yield what is known of each namespace that has a character device."""
    devices = machine.find("dev/ng[0-9]*n[0-9]*")
    if not devices:
        yield Finding(_NAME, False, "no /dev/ng*", "the embedded controller needs none")
    for device in devices:
        name = f"{_NAME[:-1]} {device.name}"
        if _block_device(machine, device).exists():
            yield Finding(name, True, f"{machine.shown(device)} has a block device: no Key-Value")
            continue
        found = usable(machine, name, [device])
        seen = f"{found.seen}: no block device, so it may be Key-Value"
        yield Finding(name, found.found, seen, found.advice)


def _block_device(machine: Machine, device: Path) -> Path:
    return machine.root / "dev" / f"nvme{device.name.removeprefix('ng')}"
