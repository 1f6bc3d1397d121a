"""Public names: how an upstream name becomes one of this project.

``struct spdk_nvme_kv_x`` and ``struct spdk_nvme_x`` become ``xiokv_x``; macros and
enumerators go by the first prefix of `_PREFIXES` that fits.
"""

from __future__ import annotations

from dataclasses import dataclass

from xiokv.codegen.errors import XiokvError

# (upstream prefix, public prefix, word that is dropped where it is said twice)
_PREFIXES = (
    ("SPDK_NVME_OPC_KV_", "XIOKV_OPC_", ""),
    ("SPDK_NVME_SC_KV_", "XIOKV_SC_", ""),
    ("SPDK_NVME_SC_", "XIOKV_SC_", ""),
    ("SPDK_NVME_SCT_", "XIOKV_SCT_", ""),
    ("SPDK_NVME_CSI_", "XIOKV_CSI_", ""),
    ("SPDK_NVME_KV_STORE_OPT_", "XIOKV_STORE_", "STORE_"),
    ("SPDK_NVME_KV_RETRIEVE_OPT_", "XIOKV_RETRIEVE_", "RETRIEVE_"),
    ("SPDK_NVME_KV_", "XIOKV_", ""),
    ("SPDK_NVME_", "XIOKV_", ""),
    ("SPDK_", "XIOKV_", ""),
)
_TAG_PREFIXES = ("spdk_nvme_kv_", "spdk_nvme_", "spdk_")
_PYTHON_ENUMS = {
    "xiokv_command_specific_status_code": "CommandStatus",
    "xiokv_generic_command_status_code": "Status",
    "xiokv_status_code_type": "StatusType",
}


@dataclass(frozen=True, slots=True)
class Name:
    """A public name, and what is left of it within its Python enum."""

    full: str
    short: str


def macro(upstream: str) -> Name:
    """Return the public name of a macro or an enumerator."""
    for prefix, public, repeated in _PREFIXES:
        if upstream.startswith(prefix):
            short = upstream.removeprefix(prefix).removeprefix(repeated)
            return Name(public + short, short)
    raise XiokvError(f"upstream name {upstream!r} does not start with SPDK_; no public name fits")


def tag(upstream: str) -> str:
    """Return the public tag of a struct, a union or an enum."""
    for prefix in _TAG_PREFIXES:
        if upstream.startswith(prefix):
            return "xiokv_" + upstream.removeprefix(prefix)
    raise XiokvError(f"upstream tag {upstream!r} does not start with spdk_; no public name fits")


def python_enum(public: str) -> str:
    """Return the name of the Python enum for a public enum tag (``Opcode``)."""
    words = public.removeprefix("xiokv_").split("_")
    return _PYTHON_ENUMS.get(public, "".join(word.capitalize() for word in words))


def check_unique(names: list[tuple[str, str]]) -> None:
    """Refuse two (public, upstream) pairs of one public name."""
    seen: dict[str, str] = {}
    for public, upstream in names:
        other = seen.setdefault(public, upstream)
        if other != upstream:
            raise XiokvError(
                f"{upstream} and {other} would both be called {public};"
                " a rule of codegen/spec/names.py has to tell them apart"
            )
