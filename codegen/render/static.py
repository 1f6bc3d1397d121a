"""Hand-written files that go into the output as they are, under a notice.

In: paths below ``templates/static``. Out: ``{path: text}``, relative to the output folder.
"""

from __future__ import annotations

from pathlib import Path

from xiokv import templates

_NOTICE = "Copied by `xiokv-gen build` from the static templates of xiokv; do not edit."
_C_NOTICE = f"// {_NOTICE}\n// clang-format off\n"
_ROOT = Path(templates.__file__).parent / "static"


def static_headers(*paths: str) -> dict[str, str]:
    """Return the copies of headers, to be included by the paths given."""
    return {f"include/{path}": _C_NOTICE + _read(path) for path in paths}


def static_cmake(folder: str, *names: str) -> dict[str, str]:
    """Return the copies of CMake files, to lie in a folder."""
    return {f"{folder}/{name}": f"# {_NOTICE}\n" + _read(f"cmake/{name}") for name in names}


def _read(path: str) -> str:
    return (_ROOT / path).read_text(encoding="utf-8")
