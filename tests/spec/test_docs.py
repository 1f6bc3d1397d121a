"""Every public symbol has a sentence of documentation."""

from __future__ import annotations

from xiokv.codegen.semantics.docs import load_docs
from xiokv.codegen.spec.briefs import documented_members
from xiokv.codegen.spec.model import Spec


def _symbols(spec: Spec) -> set[str]:
    symbols = {item.name for item in (*spec.commands, *spec.constants, *spec.enums)}
    symbols |= {e.name for enum in spec.enums for e in enum.enumerators}
    for record in spec.records:
        symbols |= {record.name, *(f"{record.name}.{m}" for m in documented_members(record.layout))}
    return symbols


def test_docs_toml_has_every_public_symbol_and_no_other(spec: Spec) -> None:
    assert set(load_docs()) == _symbols(spec)


def test_sentences_are_sentences() -> None:
    odd = {s: t for s, t in load_docs().items() if not t[0].isupper() or not t.endswith((".", ")"))}
    assert odd == {}


def test_a_symbol_without_entry_gets_a_computed_sentence(make_spec) -> None:
    spec: Spec = make_spec(docs={})
    opcode = spec.enum("Opcode").enumerators[0]
    record = next(r for r in spec.records if r.name == "xiokv_cpl")
    status = next(r for r in spec.records if r.name == "xiokv_status")
    assert opcode.brief == "SPDK_NVME_OPC_KV_STORE, 0x1."
    assert record.brief == "Laid out as struct spdk_nvme_cpl, 16 bytes."
    assert record.briefs["sqhd"] == "At byte 8."
    assert status.briefs["sct"] == "Byte 1, from bit 1, 3 bits wide."


def test_reserved_members_say_so(spec: Spec) -> None:
    record = next(r for r in spec.records if r.name == "xiokv_ns_data")
    assert record.briefs["reserved8"] == "Reserved."
