"""Findings about librados, which a controller needs to keep its values in a Ceph cluster."""

from __future__ import annotations

from collections.abc import Iterator

from xiokv.codegen.doctor.finding import Finding
from xiokv.codegen.doctor.machine import Machine
from xiokv.runtime import toolchain

_LIBRARY = "librados.so.2"
_HEADER = "include/rados/librados.hpp"
_FOLDERS = ("usr/local", "usr")


def ceph(machine: Machine) -> Iterator[Finding]:
    """Yield whether the store on Ceph can be compiled, and loaded; no target needs it."""
    headers = machine.find(*(f"{folder}/{_HEADER}" for folder in _FOLDERS))
    missing = [
        *([] if machine.opens(_LIBRARY) else [_LIBRARY]),
        *([] if headers else [f"rados/{_HEADER.rpartition('/')[2]}"]),
    ]
    if missing:
        advice = f"for a store on Ceph install {toolchain.RADOS_PACKAGES}"
        yield Finding("librados", False, f"no {', no '.join(missing)}", advice)
    else:
        yield Finding("librados", True, f"{_LIBRARY}, {machine.shown(headers[0])}")
