"""A spec is refused unless every bit of every command has exactly one owner."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from xiokv import templates
from xiokv.codegen.bits import Bits
from xiokv.codegen.errors import XiokvError
from xiokv.codegen.facts import Facts
from xiokv.codegen.spec.model import Command, Spec, SqeField
from xiokv.codegen.spec.validate import NEEDED, validate


def _with_fields(spec: Spec, fields: tuple[SqeField, ...]) -> Spec:
    first: Command = replace(spec.commands[0], fields=fields)
    return replace(spec, commands=(first, *spec.commands[1:]))


def test_the_merged_spec_holds(spec: Spec) -> None:
    for command in spec.commands:
        bits = sorted(b for f in command.fields for b in range(f.offset, f.offset + f.bits.width))
        assert bits == list(range(512)), command.name


def test_a_bit_without_owner_is_refused(spec: Spec) -> None:
    fields = spec.commands[0].fields
    with pytest.raises(XiokvError, match="store: 32 bits of the entry belong to no field"):
        validate(_with_fields(spec, tuple(f for f in fields if f.name != "nsid")))


def test_a_bit_with_two_owners_is_refused_and_both_named(spec: Spec) -> None:
    fields = tuple(
        replace(f, bits=Bits(8, 0)) if f.name == "key_length" else f
        for f in spec.commands[0].fields
    )
    with pytest.raises(XiokvError, match=r"store: bit 360 .* to key_length and to options"):
        validate(_with_fields(spec, fields))


def test_two_parts_of_one_value_in_the_same_place_are_refused(spec: Spec) -> None:
    fields = tuple(replace(f, dword=2) if f.name == "key" else f for f in spec.commands[0].fields)
    with pytest.raises(XiokvError, match="belongs to key and to key"):
        validate(_with_fields(spec, fields))


def test_a_key_longer_than_its_field_is_refused(spec: Spec) -> None:
    long = replace(spec.commands[0], key_max=17)
    with pytest.raises(XiokvError, match="key length 1 to 17 does not fit the 16 bytes"):
        validate(replace(spec, commands=(long, *spec.commands[1:])))


def test_the_names_that_headers_need_are_those_that_they_use() -> None:
    folder = Path(templates.__file__).parent
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.[hj]*"))]
    shape = r"XIOKV_(?:SCT?|OPC|KEY|CSI|STORE|RETRIEVE)_[A-Z_]+\b(?!\()"
    used = {name for text in texts for name in re.findall(shape, text)}
    own = {name for text in texts for name in re.findall(r"#define (\w+)", text)}
    assert sorted(used - own) == sorted(NEEDED)


@pytest.mark.parametrize("name", NEEDED)
def test_a_name_that_headers_need_and_upstream_lacks_is_refused(spec: Spec, name: str) -> None:
    enums = tuple(
        replace(enum, enumerators=tuple(e for e in enum.enumerators if e.name != name))
        for enum in spec.enums
    )
    constants = tuple(constant for constant in spec.constants if constant.name != name)
    with pytest.raises(XiokvError, match=f"no name that becomes {name}, which headers need"):
        validate(replace(spec, enums=enums, constants=constants))


def test_a_member_that_cannot_be_named_in_cpp_is_refused(make_spec, facts: Facts) -> None:
    data = next(record for record in facts.records if record.name == "spdk_nvme_kv_ns_data")
    renamed = replace(data, fields=(replace(data.fields[0], name="namespace"), *data.fields[1:]))
    records = tuple(renamed if record is data else record for record in facts.records)
    with pytest.raises(XiokvError, match=rf"{data.name}\.namespace: 'namespace' cannot be a name"):
        make_spec(of=replace(facts, records=records))


def test_all_faults_are_reported_together(spec: Spec) -> None:
    commands = tuple(replace(c, key_max=99) for c in spec.commands)
    with pytest.raises(XiokvError) as caught:
        validate(replace(spec, commands=commands))
    assert str(caught.value).count("does not fit") == len(commands)
