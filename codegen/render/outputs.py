"""The registry of outputs: what each name in ``[output] emit`` renders.

A renderer takes the finished spec and returns ``{path: text}``, paths relative to the
output folder. It is a pure function of the spec: no files, clock or environment. A new
kind of output is one more entry of `OUTPUTS`.
"""

from __future__ import annotations

from collections.abc import Callable

from xiokv.codegen.spec.model import Spec

Renderer = Callable[[Spec], dict[str, str]]

OUTPUTS: dict[str, Renderer] = {}
