"""A project with exec = true: its text, rendered once, and its modules.

In: what the profile says of Exec's length. Out: the folder of generated text, or a module.
"""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from tests import native
from xiokv import runtime
from xiokv.codegen import ir
from xiokv.codegen.render.c import render_headers
from xiokv.codegen.render.engine import engine_outputs
from xiokv.codegen.render.python import twin
from xiokv.codegen.semantics.commands import load_commands
from xiokv.codegen.semantics.docs import load_docs
from xiokv.codegen.semantics.exec import load_exec
from xiokv.codegen.spec.merge import merge
from xiokv.codegen.spec.model import Profile, Provenance, Spec
from xiokv.runtime import toolchain

# Of each kind of device: what a module is compiled for, where not for all that there are.
ARCHITECTURES = {"hip": ("gfx942", "gfx1100")}


@cache
def spec(length: str = "payload") -> Spec:
    """Return the spec."""
    path = native.ROOT / "generated" / "spec" / "nvme_kv.json"
    return merge(
        facts=ir.load(path.read_text(encoding="utf-8"), path.name),
        rules=load_commands(),
        profile=Profile("test", (), length),
        docs=load_docs(),
        provenance=Provenance("https://example.org/spdk", "v1", "0" * 40, "BSD-3-Clause"),
        facts_sha256="f" * 64,
        vendor=load_exec(),
    )


@cache
def generated(length: str = "payload") -> Path:
    """Return the folder of headers, kernels and twin; other processes may make it, too."""
    made = spec(length)
    texts = {**render_headers(made), **engine_outputs(made), "nvme_kv.py": twin(made)}
    native.KEPT.mkdir(parents=True, exist_ok=True)
    making = Path(mkdtemp(dir=native.KEPT, prefix=".exec-"))
    for path, text in texts.items():
        (making / path).parent.mkdir(parents=True, exist_ok=True)
        (making / path).write_text(text, encoding="utf-8")
    digest = toolchain.Sources(making, (), ".", tuple(texts)).digest()
    folder = native.KEPT / f"exec-{length}-{digest[:16]}"
    try:
        making.rename(folder)
    except OSError:  # it is there
        shutil.rmtree(making)
    return folder


@cache
def module(target: str = "host", length: str = "payload") -> runtime.Module:
    """Return a loaded module."""
    architectures = ARCHITECTURES.get(target, ())
    recipe = toolchain.recipe(target, generated(length), "tests", architectures)
    return runtime.load(target, module=toolchain.build_cached(recipe))
