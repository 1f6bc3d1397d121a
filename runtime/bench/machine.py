"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

COMPILERS = ("c++", "gcc", "clang-19")


def describe() -> dict[str, str | int | float]:
    """Return the machine by processor, cores, memory, system, tools and present load."""
    compilers = {name: version for name in COMPILERS if (version := _version(name))}
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "system_cores": os.cpu_count() or 1,
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{_distribution()}, {platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **compilers,
        "load": round(os.getloadavg()[0], 1),
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return f"{line.partition(':')[2].strip()} ({platform.machine()})"
    return platform.machine()


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return "unknown system"


def _version(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        return ""
    done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.partition("\n")[0]
