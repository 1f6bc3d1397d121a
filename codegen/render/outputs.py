"""The registry of outputs: what each name in ``[output] emit`` renders.

A renderer takes the finished spec and returns ``{path: text}``, paths relative to the
output folder. It is a pure function of the spec: no files, clock or environment. A new
kind of output is one more entry of `OUTPUTS`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from xiokv.codegen.config import Output
from xiokv.codegen.errors import UsageError
from xiokv.codegen.render.c import render_headers
from xiokv.codegen.render.engine import engine_outputs
from xiokv.codegen.render.packages import render_cmake, render_pkgconfig
from xiokv.codegen.render.python import twin
from xiokv.codegen.render.rocm_xio import render_rocm_xio
from xiokv.codegen.spec.model import Spec

Renderer = Callable[[Spec], dict[str, str]]

OUTPUTS: dict[str, Renderer] = {
    "headers": render_headers,
    "engine": engine_outputs,
    "rocm-xio": render_rocm_xio,
    "cmake": render_cmake,
    "pkgconfig": render_pkgconfig,
}


def render_all(spec: Spec, output: Output) -> dict[Path, str]:
    """Return the text of every file that the project asks for, by absolute path."""
    texts: dict[Path, str] = {}
    for emit in sorted(output.emit, key=lambda kind: kind == "python"):
        if emit == "python":  # the one output with a path of its own, so after all others
            if output.python in texts:
                raise UsageError(
                    f"xiokv.toml: python: {output.python} is also that of another output"
                )
            texts[output.python] = twin(spec)
        elif emit in OUTPUTS:
            texts.update({output.dir / path: text for path, text in OUTPUTS[emit](spec).items()})
        else:
            raise UsageError(
                f"xiokv.toml: emit: this version of xiokv cannot render {emit!r};"
                f" it renders {', '.join(sorted([*OUTPUTS, 'python']))}"
            )
    return texts
