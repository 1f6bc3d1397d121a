"""All findings, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Iterable

from xiokv.codegen.doctor import basics, ceph, compilers, gpus, namespaces
from xiokv.codegen.doctor.finding import Finding
from xiokv.codegen.doctor.machine import Machine


def survey(
    project: str | None, added: Iterable[str], *, runs: bool, machine: Machine
) -> list[Finding]:
    """Return what was found.

    Args:
        project: the folder that the user named, or None for the nearest project.
        added: targets besides those of the project.
        runs: whether its modules run on this machine, and are not only built here.
        machine: what is looked at.
    """
    config, read = basics.read_project(project)
    targets = {*added, *(config.compile.targets if config else ())}
    return [
        *basics.python_and_xiokv(),
        read,
        *(basics.project_files(config) if config else ()),
        *compilers.compilers(machine, targets),
        *gpus.amd(machine, needed=runs and "hip" in targets),
        *gpus.nvidia(machine, needed=runs and "cuda" in targets),
        *ceph.ceph(machine),
        *namespaces.namespaces(machine),
    ]
