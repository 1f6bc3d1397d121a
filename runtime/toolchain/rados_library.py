"""How the library libxiokv_rados is made: the store on Ceph, beside libxiokv.

In: the version of xiokv that compiles. Out: a recipe. It shares headers with libxiokv, and no
symbols.
"""

from __future__ import annotations

from pathlib import Path

from xiokv.runtime.errors import MissingFault, RuntimeFault
from xiokv.runtime.toolchain.recipes import Recipe, Sources, found, library_recipe

#: What brings librados and its headers.
RADOS_PACKAGES = "libradospp-dev (Debian, Ubuntu) or libradospp-devel (Fedora, RHEL, openSUSE)"

RADOS_NAME = "libxiokv_rados.so"
_FOLDERS = ("runtime/rados", "runtime/emulator")
_HEADERS = "generated/include"
_SIGNS = ("rados/librados.hpp", "-lrados", "librados.so")
_HOW = (
    f"a store on Ceph needs librados and its C++ headers: install {RADOS_PACKAGES}; all else works"
    " without"
)
_FLAGS = (
    *("-std=c++17", "-O2", "-fPIC", "-shared", "-pthread", "-fvisibility=hidden"),
    # Threads of librados run its code as long as the process does.
    *("-Wl,-z,nodelete", "-Wl,--no-as-needed", "-lrados"),
    # A standard library that the compiler links in stays inside: librados has its own.
    "-Wl,--exclude-libs,ALL",
)


def rados_recipe(generator: str) -> Recipe:
    """Return how the library is made: all units as one, in a third of the time.

    So what a unit has for itself may not have another's name.
    """
    root = Path(__file__).parents[2]
    *included, unit = found(root, _FOLDERS[0], "*.cpp")
    headers = [path for folder in _FOLDERS for path in found(root, folder, "*.h")]
    headers += [*found(root, _HEADERS, "*.h"), *found(root, _HEADERS, "xiokv/**/*.h")]
    sources = Sources(root, (unit,), _HEADERS, (*included, unit, *headers))
    flags = (*_FLAGS, *(word for name in included for word in ("-include", name)))
    description = {"kind": "Ceph store", "generator": generator}
    return library_recipe(RADOS_NAME, sources, flags, description)


def lack_of_librados(fault: RuntimeFault) -> MissingFault | None:
    """Return what is missing where a fault of compiling or loading comes of that."""
    if any(sign in str(fault) for sign in _SIGNS):
        return MissingFault(f"{_HOW}\n{fault}")
    return None
