"""The outputs ``cmake`` and ``pkgconfig``: how build systems find the headers.

In: a finished spec, and what the project's copy goes by. Out: ``{path: text}``, relative to
the output folder, which is laid out as a prefix is: ``include/`` and ``share/``. So the same
texts serve in the project and, copied by ``xiokv-gen install``, below any other prefix.
"""

from __future__ import annotations

from xiokv.codegen.naming import Names
from xiokv.codegen.render.env import render
from xiokv.codegen.render.rocm_xio import ROCM_XIO_DIR
from xiokv.codegen.render.static import static_cmake
from xiokv.codegen.spec.model import Spec
from xiokv.codegen.version import SERIES

PKGCONFIG_DIR = "share/pkgconfig"
LIBRARY_DIR = "lib/xiokv"  # of a prefix that was given the library
RADOS_DIR = f"{LIBRARY_DIR}/rados"  # the same of the store on Ceph


def cmake_dir(names: Names) -> str:
    """Return the folder of the CMake package."""
    return f"share/cmake/{names.package}"


def installed_dir(names: Names) -> str:
    """Return where, when installed, is what is neither a header nor for a build system."""
    return f"share/{names.package}"


def render_cmake(spec: Spec, names: Names) -> dict[str, str]:
    """Return the files of the CMake package."""
    folder = cmake_dir(names)
    values = {
        "series": SERIES,
        "up": _up(folder),
        "kernels": ("kernels", f"{installed_dir(names)}/kernels"),
        "rocm_xio": (ROCM_XIO_DIR, f"{installed_dir(names)}/{ROCM_XIO_DIR}"),
        "library": f"{LIBRARY_DIR}/libxiokv.so.1",
        "rados": f"{RADOS_DIR}/libxiokv_rados.so",
        "names": names,
        "include": f"${{{names.package}_INCLUDE_DIR}}",
    }
    rendered = {
        f"{folder}/{names.package}-{end}": render(f"cmake/xiokv-{end}.j2", spec=spec, **values)
        for end in ("config.cmake", "config-version.cmake")
    }
    return {**rendered, **static_cmake(folder, "xiokv-generate.cmake")}


def render_pkgconfig(spec: Spec, names: Names) -> dict[str, str]:
    """Return the file that pkg-config reads."""
    values = {"series": SERIES, "up": _up(PKGCONFIG_DIR), "names": names}
    text = render("pkgconfig/xiokv.pc.j2", spec=spec, **values)
    return {f"{PKGCONFIG_DIR}/{names.package}.pc": text}


def render_host_pkgconfig(spec: Spec) -> dict[str, str]:
    """Return the file that pkg-config reads of a prefix that was given the library."""
    values = {"series": SERIES, "up": _up(PKGCONFIG_DIR), "library": LIBRARY_DIR}
    return {
        f"{PKGCONFIG_DIR}/xiokv-host.pc": render("pkgconfig/xiokv-host.pc.j2", spec=spec, **values)
    }


def render_rados_pkgconfig(spec: Spec) -> dict[str, str]:
    """Return the file that pkg-config reads of a prefix that was given the store on Ceph."""
    values = {"series": SERIES, "up": _up(PKGCONFIG_DIR), "library": RADOS_DIR}
    text = render("pkgconfig/xiokv-rados.pc.j2", spec=spec, **values)
    return {f"{PKGCONFIG_DIR}/xiokv-rados.pc": text}


def _up(folder: str) -> str:
    """Return the way from a folder up to what its path counts from."""
    return "/".join(".." for _ in folder.split("/"))
