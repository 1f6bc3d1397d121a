"""How the library libxiokv is made, which C and C++ programs and the host driver share.

In: the version of xiokv that compiles. Out: a recipe. Its texts are the package's own: the
structures that it shares with a module are those of every project.
"""

from __future__ import annotations

from pathlib import Path

from xiokv.runtime.toolchain.recipes import Recipe, Sources, found, library_recipe

#: What a program that was linked with the library looks for.
SONAME = "libxiokv.so.1"

_FOLDER = "runtime/capi"
_CONTROLLERS = ("runtime/emulator", "runtime/nvme")
_HEADERS = "generated/include"
_EXPORTS = f"{_FOLDER}/libxiokv.map"
_FLAGS = (
    *("-std=c++17", "-O2", "-fPIC", "-shared", "-pthread", "-fvisibility=hidden"),
    *(f"-Wl,-soname,{SONAME}", f"-Wl,--version-script={_EXPORTS}"),
    # Threads run its code as long as the process does.
    *("-Wl,-z,nodelete", "-Wl,--no-as-needed", "-ldl"),
)


def capi_recipe(generator: str) -> Recipe:
    """Return how the library is made: all units as one, in a third of the time."""
    root = Path(__file__).parents[2]
    folders = (*_CONTROLLERS, _FOLDER)
    *included, unit = [path for folder in folders for path in found(root, folder, "*.cpp")]
    headers = [path for folder in folders for path in found(root, folder, "*.h")]
    headers += [*found(root, _HEADERS, "*.h"), *found(root, _HEADERS, "xiokv/**/*.h")]
    sources = Sources(root, (unit,), _HEADERS, (*included, unit, *headers, _EXPORTS))
    flags = (
        *_FLAGS,
        f'-DXIOKV_GENERATOR="{generator}"',
        *(word for name in included for word in ("-include", name)),
    )
    description = {"kind": "host library", "generator": generator}
    return library_recipe(SONAME, sources, flags, description)
