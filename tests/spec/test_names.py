"""Public names follow from upstream ones, and the whole list is held."""

from __future__ import annotations

from pathlib import Path

import pytest

from xiokv.codegen.errors import XiokvError
from xiokv.codegen.spec import names
from xiokv.codegen.spec.model import Spec

LIST = Path(__file__).resolve().parents[1] / "data" / "public_names.txt"


@pytest.mark.parametrize(
    ("upstream", "full", "short"),
    [
        ("SPDK_NVME_OPC_KV_STORE", "XIOKV_OPC_STORE", "STORE"),
        ("SPDK_NVME_SC_KV_KEY_DOES_NOT_EXIST", "XIOKV_SC_KEY_DOES_NOT_EXIST", "KEY_DOES_NOT_EXIST"),
        ("SPDK_NVME_SC_KEY_EXISTS", "XIOKV_SC_KEY_EXISTS", "KEY_EXISTS"),
        ("SPDK_NVME_SCT_PATH", "XIOKV_SCT_PATH", "PATH"),
        ("SPDK_NVME_CSI_KV", "XIOKV_CSI_KV", "KV"),
        ("SPDK_NVME_KV_STORE_OPT_DONT_COMPRESS", "XIOKV_STORE_DONT_COMPRESS", "DONT_COMPRESS"),
        ("SPDK_NVME_KV_RETRIEVE_OPT_RETRIEVE_RAW", "XIOKV_RETRIEVE_RAW", "RAW"),
        ("SPDK_NVME_KV_KEY_MAX_LEN", "XIOKV_KEY_MAX_LEN", "KEY_MAX_LEN"),
        ("SPDK_NVME_GLOBAL_NS_TAG", "XIOKV_GLOBAL_NS_TAG", "GLOBAL_NS_TAG"),
    ],
)
def test_macro(upstream: str, full: str, short: str) -> None:
    assert names.macro(upstream) == names.Name(full, short)


@pytest.mark.parametrize(
    ("upstream", "public"),
    [
        ("spdk_nvme_kv_ns_data", "xiokv_ns_data"),
        ("spdk_nvme_cpl", "xiokv_cpl"),
        ("spdk_nvme_kv_opcode", "xiokv_opcode"),
    ],
)
def test_tag(upstream: str, public: str) -> None:
    assert names.tag(upstream) == public


def test_a_name_of_another_project_is_refused() -> None:
    with pytest.raises(XiokvError, match="'NVME_OPC_X' does not start with SPDK_"):
        names.macro("NVME_OPC_X")


def test_two_upstream_names_of_one_public_name_are_refused_and_both_named() -> None:
    with pytest.raises(XiokvError, match="spdk_b and spdk_a would both be called xiokv_x"):
        names.check_unique([("xiokv_x", "spdk_a"), ("xiokv_y", "spdk_c"), ("xiokv_x", "spdk_b")])


def _public_names(spec: Spec) -> list[str]:
    lines = [c.name for c in spec.constants]
    for enum in spec.enums:
        lines += [enum.name, *(f"{e.name} {enum.python}.{e.short}" for e in enum.enumerators)]
    for record in spec.records:
        lines += [record.name, *(f"{record.name}.{path}" for path, _, _ in record.layout.walk())]
    for command in spec.commands:
        lines += [f"{command.name}:{option.name}" for option in command.options]
    return sorted(lines)


def test_the_public_names_are_the_listed_ones(spec: Spec) -> None:
    """A change here is seen by every user: it belongs in the changelog."""
    assert _public_names(spec) == LIST.read_text(encoding="utf-8").splitlines()
