"""The outputs ``cmake`` and ``pkgconfig``: how build systems find the headers.

In: a finished spec. Out: ``{path: text}``, relative to the output folder, which is laid out
as a prefix is: ``include/`` and ``share/``. So the same texts serve in the project and, copied
by ``xiokv-gen install``, below any other prefix.
"""

from __future__ import annotations

from xiokv.codegen.render.env import render
from xiokv.codegen.render.static import static_cmake
from xiokv.codegen.spec.model import Spec
from xiokv.codegen.version import SERIES

CMAKE_DIR = "share/cmake/xiokv"
PKGCONFIG_DIR = "share/pkgconfig"
LIBRARY_DIR = "lib/xiokv"  # of a prefix that was given the library
INSTALLED = "share/xiokv"  # what is neither a header nor for a build system, when installed


def render_cmake(spec: Spec) -> dict[str, str]:
    """Return the files of the CMake package."""
    names = ("xiokv-config.cmake", "xiokv-config-version.cmake")
    values = {
        "series": SERIES,
        "up": _up(CMAKE_DIR),
        "kernels": ("kernels", f"{INSTALLED}/kernels"),
        "library": f"{LIBRARY_DIR}/libxiokv.so.1",
    }
    rendered = {
        f"{CMAKE_DIR}/{name}": render(f"cmake/{name}.j2", spec=spec, **values) for name in names
    }
    return {**rendered, **static_cmake(CMAKE_DIR, "xiokv-generate.cmake")}


def render_pkgconfig(spec: Spec) -> dict[str, str]:
    """Return the file that pkg-config reads."""
    text = render("pkgconfig/xiokv.pc.j2", spec=spec, series=SERIES, up=_up(PKGCONFIG_DIR))
    return {f"{PKGCONFIG_DIR}/xiokv.pc": text}


def render_host_pkgconfig(spec: Spec) -> dict[str, str]:
    """Return the file that pkg-config reads of a prefix that was given the library."""
    values = {"series": SERIES, "up": _up(PKGCONFIG_DIR), "library": LIBRARY_DIR}
    return {
        f"{PKGCONFIG_DIR}/xiokv-host.pc": render("pkgconfig/xiokv-host.pc.j2", spec=spec, **values)
    }


def _up(folder: str) -> str:
    """Return the way from a folder up to what its path counts from."""
    return "/".join(".." for _ in folder.split("/"))
