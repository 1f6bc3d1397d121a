"""What an AMD code object says of its kernels.

In: an ELF file. Out: the figures in its metadata note, which the loader goes by too.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection, SymbolTableSection

from xiokv.runtime.errors import RuntimeFault

_TRIPLE = "amdgcn-amd-amdhsa--"
_FIGURES = {
    "vgprs": ".vgpr_count",
    "agprs": ".agpr_count",
    "sgprs": ".sgpr_count",
    "lds_bytes": ".group_segment_fixed_size",
    "scratch_bytes": ".private_segment_fixed_size",
    "vgpr_spills": ".vgpr_spill_count",
    "sgpr_spills": ".sgpr_spill_count",
    "kernarg_bytes": ".kernarg_segment_size",
}
# Only GPUs that have such registers tell of them.
_OPTIONAL = {".agpr_count": 0}


def code_object_figures(path: Path) -> Mapping[str, Any]:
    """Return architecture, wave size, kernels and called functions of a code object.

    Raises:
        RuntimeFault: the file is none, or its note lacks something.
    """
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            document = _metadata(elf)
            kernels = document["amdhsa.kernels"]
            names = {kernel[".name"]: _kernel(kernel) for kernel in kernels}
            (wave,) = {kernel[".wavefront_size"] for kernel in kernels}
            return {
                "arch": document["amdhsa.target"].removeprefix(_TRIPLE),
                "wave": wave,
                "kernels": names,
                "functions": sorted(_functions(elf) - names.keys()),
            }
    except (ELFError, msgspec.MsgspecError, KeyError, TypeError, ValueError) as error:
        raise RuntimeFault(
            f"{path.name} is no AMD code object that xiokv can read: {error!r}"
        ) from error


def _metadata(elf: ELFFile) -> Any:
    notes = (
        note
        for section in elf.iter_sections()
        if isinstance(section, NoteSection)
        for note in section.iter_notes()
        if note["n_name"] == "AMDGPU"
    )
    return msgspec.msgpack.decode(next(notes, {"n_descdata": b"\x80"})["n_descdata"])


def _kernel(kernel: Mapping[str, Any]) -> dict[str, Any]:
    told = {**_OPTIONAL, **kernel}
    arguments = [
        {"offset": part[".offset"], "size": part[".size"], "kind": part[".value_kind"]}
        for part in kernel.get(".args", ())
    ]
    return {**{name: told[key] for name, key in _FIGURES.items()}, "arguments": arguments}


def _functions(elf: ELFFile) -> set[str]:
    """Return what is called, or could be: code that was not inlined keeps its symbol."""
    return {
        symbol.name
        for section in elf.iter_sections()
        if isinstance(section, SymbolTableSection)
        for symbol in section.iter_symbols()
        if symbol["st_info"]["type"] == "STT_FUNC"
    }
