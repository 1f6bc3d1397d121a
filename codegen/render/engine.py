"""The output ``engine``: the batch engine's headers, its kernels and what they are.

In: a finished spec. Out: the hand-written engine headers as they are, one kernel a
command, and ``kernels/kv_module.json``, from which a compiled module's description is
made: identities, commands and the profile's fields.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from xiokv.codegen.render.env import render
from xiokv.codegen.render.static import static_headers
from xiokv.codegen.spec.model import Command, Spec

_HEADERS = (
    "xiokv.h",
    "xiokv_emulator.h",
    "xiokv_rados.h",
    "xiokv/host_streams.h",
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
    """A command's kernel.

    Attributes:
        name: of the command.
        title: the same for readers.
        symbol: opcode of the command as which its completion is read.
        arguments: those of its raw encoder.
        notes: what readers of the kernel are told besides.
    """

    name: str
    title: str
    symbol: str
    arguments: str
    notes: tuple[str, ...] = ()


_EXEC_NOTES = (
    "",
    "The key lies in the data. Exec has no semantic fields, and the places of the",
    "batch for them hold its numbers: CDW11 the input's length, CDW13 the",
    "operation. A value's size is that of the buffer, which holds the payload and",
    "then the output. A request that the queue cannot carry has no key: it goes",
    "out for no namespace, and is refused without a look at its data.",
)
_EXEC_ARGUMENTS = (
    "request.key.length != 0u ? request.nsid : 0u",
    "request.key.length",
    "request.reserved.cdw11",
    "request.size",
    "request.reserved.cdw13",
)


def engine_outputs(spec: Spec) -> dict[str, str]:
    """Return the engine's files, relative to the output folder."""
    kernels = [_kernel(command) for command in spec.commands]
    return {
        **static_headers(*_HEADERS),
        "kernels/kv_kernels.cpp": render(
            "kernels/kv_kernels.cpp.j2",
            spec=spec,
            kernels=kernels,
            has_exec=spec.exec is not None,
        ),
        "kernels/kv_module.json": _module(spec),
    }


def _kernel(command: Command) -> KernelView:
    if command.key_in_data:
        # DW0 says of its output what it says of a Retrieve's value.
        view = _view(command, "XIOKV_OPC_RETRIEVE", _EXEC_ARGUMENTS)
        return replace(view, notes=_EXEC_NOTES)
    arguments = [
        "request.nsid",
        "&request.key",
        *(["request.size"] if command.takes_value_size else []),
        *(["request.options"] if command.options else []),
        "&request.reserved",
    ]
    return _view(command, command.symbol, arguments)


def _view(command: Command, symbol: str, arguments: Iterable[str]) -> KernelView:
    joined = ",\n        ".join(arguments)
    return KernelView(command.name, command.name.capitalize(), symbol, joined)


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
        "profile": {"name": spec.profile.name, "fields": [asdict(f) for f in spec.profile.fields]},
    }
    return json.dumps(document, indent=2, sort_keys=True) + "\n"
