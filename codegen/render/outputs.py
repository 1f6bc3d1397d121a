"""The registry of outputs: what each name in ``[output] emit`` renders.

A renderer takes the finished spec, and for a package the names of the project's copy, and
returns ``{path: text}``, paths relative to the output folder. It is a pure function: no
files, clock or environment. A new kind of output is one more entry of `OUTPUTS` or `PACKAGES`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from xiokv.codegen.config import Output
from xiokv.codegen.errors import UsageError
from xiokv.codegen.naming import Names
from xiokv.codegen.render.c import render_headers
from xiokv.codegen.render.engine import engine_outputs
from xiokv.codegen.render.namespaced import in_namespace
from xiokv.codegen.render.packages import render_cmake, render_pkgconfig
from xiokv.codegen.render.python import twin
from xiokv.codegen.render.rocm_xio import render_rocm_xio
from xiokv.codegen.spec.model import Spec

Renderer = Callable[[Spec], dict[str, str]]

OUTPUTS: dict[str, Renderer] = {
    "headers": render_headers,
    "engine": engine_outputs,
    "rocm-xio": render_rocm_xio,
}
PACKAGES: dict[str, Callable[[Spec, Names], dict[str, str]]] = {
    "cmake": render_cmake,
    "pkgconfig": render_pkgconfig,
}


def render_all(spec: Spec, output: Output) -> dict[Path, str]:
    """Return the text of every file that the project asks for, by absolute path."""
    relative: dict[str, str] = {}
    for emit in output.emit:
        if emit != "python":
            relative.update(_render(emit, spec, output.names))
    named = in_namespace(relative, output.names)
    texts = {output.dir / path: text for path, text in named.items()}
    if "python" in output.emit:  # the one output with a path of its own
        if output.python in texts:
            raise UsageError(f"xiokv.toml: python: {output.python} is also that of another output")
        texts[output.python] = twin(spec)
    return texts


def _render(emit: str, spec: Spec, names: Names) -> dict[str, str]:
    if emit in OUTPUTS:
        return OUTPUTS[emit](spec)
    if emit in PACKAGES:
        return PACKAGES[emit](spec, names)
    raise UsageError(
        f"xiokv.toml: emit: this version of xiokv cannot render {emit!r};"
        f" it renders {', '.join(sorted([*OUTPUTS, *PACKAGES, 'python']))}"
    )
