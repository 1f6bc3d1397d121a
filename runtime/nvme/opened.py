"""A namespace's character device: found, checked and opened.

In: a path such as ``/dev/ng0n1``. Out: a file descriptor and the NSID. What is in use, or
is no such device, is refused before anything is sent to it.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import stat
from pathlib import Path

from xiokv.runtime.errors import ArgumentFault, MissingFault, RuntimeFault

#: The type of ioctl(2), for a stand-in in tests.
IOCTL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p)

_GENERIC = re.compile(r"ng(\d+)n(\d+)$")
_BLOCK = re.compile(r"nvme(\d+)n(\d+)(?:p\d+)?$")
_NVME_IOCTL_ID = 0x4E40
_MOUNTS = (Path("/proc/self/mounts"), Path("/proc/swaps"))


def open_namespace(path: str, mounts: tuple[Path, ...] = _MOUNTS) -> int:
    """Return a file descriptor of a namespace that nobody has mounted.

    Args:
        path: its character device.
        mounts: files that name what is in use, a device at the start of a line.

    Raises:
        MissingFault: there is no such file, or no device behind it any more.
        ArgumentFault: it is no character device, or is mounted.
        RuntimeFault: it may not be opened.
    """
    device = os.path.realpath(path)
    _check_kind(path, device)
    _check_unused(path, device, mounts)
    try:
        return os.open(device, os.O_RDWR)
    except PermissionError as error:
        raise RuntimeFault(
            f"{path} may not be opened: passing commands through takes root, or CAP_SYS_ADMIN"
            " and write access to the file"
        ) from error
    except OSError as error:
        gone = error.errno in (errno.ENXIO, errno.ENODEV)
        fault = MissingFault if gone else RuntimeFault
        raise fault(f"{path} cannot be opened: {error.strerror}") from error


def namespace_id(path: str, fd: int, ioctl: ctypes._FuncPointer | None) -> int:
    """Return the NSID of an open namespace.

    Raises:
        ArgumentFault: it is no NVMe namespace.
    """
    try:
        nsid = int(ioctl(fd, _NVME_IOCTL_ID, None) if ioctl else fcntl.ioctl(fd, _NVME_IOCTL_ID))
        why = f"its NSID is {nsid}"
    except OSError as error:
        nsid, why = 0, str(error.strerror)
    if nsid <= 0:
        raise ArgumentFault(
            f"{path} is no NVMe namespace ({why}); one is /dev/ng<controller>n<number>"
        )
    return nsid


def _check_kind(path: str, device: str) -> None:
    try:
        mode = Path(device).stat().st_mode
    except OSError as error:
        raise MissingFault(
            f"{path}: {error.strerror}; key-value namespaces are /dev/ng<controller>n<number>,"
            " which Linux makes from 5.13 on (xiokv-gen doctor looks for them)"
        ) from error
    if stat.S_ISCHR(mode):
        return
    found = _BLOCK.search(device)
    hint = f"; its character device is /dev/ng{found[1]}n{found[2]}" if found else ""
    raise ArgumentFault(f"{path} is no character device{hint}")


def _check_unused(path: str, device: str, mounts: tuple[Path, ...]) -> None:
    """Refuse a namespace whose block device, or a part of it, is mounted or swapped to."""
    found = _GENERIC.search(device)
    if found is None:
        return
    block = re.compile(rf"/dev/nvme{found[1]}n{found[2]}(?:p\d+)?\s")
    for file in mounts:
        for line in _lines(file):
            if block.match(line):
                raise ArgumentFault(
                    f"{path} is in use: {file} names {line.split()[0]}; unmount it first, if it is"
                    " the right one"
                )


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
