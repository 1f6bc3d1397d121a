"""Whether this user may use devices, and what to do otherwise."""

from __future__ import annotations

from pathlib import Path

from xiokv.codegen.doctor.finding import Finding
from xiokv.codegen.doctor.machine import Machine


def usable(machine: Machine, name: str, devices: list[Path], needed: bool = False) -> Finding:
    """Return a finding of devices that are there."""
    shown = ", ".join(map(machine.shown, devices))
    barred = [path for path in devices if not machine.may_use(path)]
    if not barred:
        return Finding(name, True, shown)
    seen = f"no permission for {', '.join(map(machine.shown, barred))}"
    return Finding(name, False, seen, _permission(barred[0]), needed)


def _permission(path: Path) -> str:
    try:
        group = path.group()
    except (KeyError, OSError):
        group = "root"
    if group == "root":
        return "run as root, or have an administrator give the device a group"
    return f"sudo usermod -aG {group} $USER, then log in again"
