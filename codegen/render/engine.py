"""The output ``engine``: the batch engine's headers, its kernels and what they are.

In: a finished spec. Out: the hand-written engine headers as they are, one kernel a
command, and ``kernels/kv_module.json``, from which a compiled module's description is
made: identities, commands and the profile's fields.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from xiokv.codegen.render.env import render
from xiokv.codegen.render.static import static_headers
from xiokv.codegen.spec.model import Command, Spec

_HEADERS = (
    "xiokv/kv_abi.h",
    "xiokv/kv_abi_hash.h",
    "xiokv/kv_batch_request.h",
    "xiokv/kv_completion.h",
    "xiokv/kv_engine.h",
    "xiokv/kv_engine_state.h",
    "xiokv/kv_module.h",
    "xiokv/kv_platform.h",
    "xiokv/kv_prp.h",
    "xiokv/kv_slots.h",
    "xiokv/kv_submission.h",
    "xiokv/platform/amdgcn.h",
    "xiokv/platform/cuda.h",
    "xiokv/platform/host.h",
)


@dataclass(frozen=True, slots=True)
class KernelView:
    """A command's kernel: its name, its opcode's symbol and its raw encoder's arguments."""

    name: str
    title: str
    symbol: str
    arguments: str


def engine_outputs(spec: Spec) -> dict[str, str]:
    """Return the engine's files, relative to the output folder."""
    kernels = [_kernel(command) for command in spec.commands]
    return {
        **static_headers(*_HEADERS),
        "kernels/kv_kernels.cpp": render("kernels/kv_kernels.cpp.j2", spec=spec, kernels=kernels),
        "kernels/kv_module.json": _module(spec),
    }


def _kernel(command: Command) -> KernelView:
    arguments = [
        "request.nsid",
        "&request.key",
        *(["request.size"] if command.takes_value_size else []),
        *(["request.options"] if command.options else []),
        "&request.reserved",
    ]
    return KernelView(
        command.name, command.name.capitalize(), command.symbol, ",\n        ".join(arguments)
    )


def _module(spec: Spec) -> str:
    commands = {
        c.name: {"opcode": c.opcode, "kernel": f"xiokv_batch_{c.name}"} for c in spec.commands
    }
    document = {
        "_generated": "by `xiokv-gen build`; do not edit",
        "schema": "xiokv-module/1",
        "facts": spec.identity.facts,
        "spec": spec.identity.spec,
        "commands": commands,
        "profile": asdict(spec.profile),
    }
    return json.dumps(document, indent=2, sort_keys=True) + "\n"
