"""The C headers: nvme_kv.h, kv_commands.h, kv_operation.h and the hand-written ones.

In: a finished spec. Out: ``{path: text}``, relative to the output folder.
"""

from __future__ import annotations

from xiokv.codegen.render.c_commands import encoder_view
from xiokv.codegen.render.c_completion import (
    cid_write,
    completion_reads,
    prp_dwords,
    status_names,
)
from xiokv.codegen.render.c_exec import exec_view
from xiokv.codegen.render.c_operation import operation_views
from xiokv.codegen.render.c_semantic import accessor_views
from xiokv.codegen.render.c_types import types_view
from xiokv.codegen.render.env import render
from xiokv.codegen.render.static import static_headers
from xiokv.codegen.spec.model import Spec

_STATIC = ("abi", "bits", "check", "list", "macros", "status", "types")


def render_headers(spec: Spec) -> dict[str, str]:
    """Return the headers of the ``headers`` output."""
    return {
        "include/xiokv/nvme_kv.h": render("c/nvme_kv.h.j2", spec=spec, view=types_view(spec)),
        "include/xiokv/kv_commands.h": render(
            "c/kv_commands.h.j2",
            spec=spec,
            encoders=[encoder_view(command, spec) for command in spec.standard_commands],
            set_cid=cid_write(spec),
            prp=prp_dwords(spec),
            completion=completion_reads(spec),
            statuses=status_names(spec),
            semantic=accessor_views(spec),
        ),
        "include/xiokv/kv_operation.h": render(
            "c/kv_operation.h.j2", spec=spec, operations=operation_views(spec)
        ),
        **static_headers(*(f"xiokv/kv_{name}.h" for name in _STATIC)),
        **_exec_headers(spec),
    }


def _exec_headers(spec: Spec) -> dict[str, str]:
    """Return the headers of Exec, where the spec has it."""
    if spec.exec is None:
        return {}
    view = exec_view(spec.exec, spec)
    return {
        "include/xiokv/kv_exec.h": render("c/kv_exec.h.j2", spec=spec, view=view),
        **static_headers("xiokv/kv_exec_payload.h"),
    }
