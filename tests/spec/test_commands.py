"""Where the parts of each command lie, against a table written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from xiokv.codegen.errors import XiokvError
from xiokv.codegen.facts import Enum, Facts
from xiokv.codegen.render.c import render_headers
from xiokv.codegen.semantics.commands import load_commands
from xiokv.codegen.spec.model import Spec, SqeField

KEY = {"key": ["2[31:0]", "3[31:0]", "14[31:0]", "15[31:0]"], "key_length": ["11[7:0]"]}
HEAD = {
    "opcode": ["0[7:0]"],
    "fuse": ["0[9:8]"],
    "psdt": ["0[15:14]"],
    "cid": ["0[31:16]"],
    "nsid": ["1[31:0]"],
    "mptr": ["4[31:0]", "5[31:0]"],
}
DATA = {"dptr": [f"{n}[31:0]" for n in (6, 7, 8, 9)], "value_size": ["10[31:0]"]}
OPTIONS = {"options": ["11[15:8]"]}

PLACES = {
    "store": HEAD | KEY | DATA | OPTIONS,
    "retrieve": HEAD | KEY | DATA | OPTIONS,
    "list": HEAD | KEY | DATA,
    "delete": HEAD | KEY,
    "exist": HEAD | KEY,
}


def _place(field: SqeField) -> str:
    return f"{field.dword}{field.bits}"


@pytest.mark.parametrize("name", PLACES)
def test_parts_lie_where_the_command_set_puts_them(spec: Spec, name: str) -> None:
    found: dict[str, list[str]] = {}
    for field in spec.command(name).fields:
        if field.kind.value != "reserved":
            found.setdefault(field.name, []).append(_place(field))
    assert found == PLACES[name]


@pytest.mark.parametrize(
    ("name", "opcode", "direction", "keys", "options"),
    [
        ("store", 0x01, "host_to_device", (1, 16), [1, 2, 4]),
        ("retrieve", 0x02, "device_to_host", (1, 16), [1]),
        ("list", 0x06, "device_to_host", (0, 16), []),
        ("delete", 0x10, "none", (1, 16), []),
        ("exist", 0x14, "none", (1, 16), []),
    ],
)
def test_rules(
    spec: Spec, name: str, opcode: int, direction: str, keys: tuple[int, int], options: list[int]
) -> None:
    command = spec.command(name)
    assert (command.opcode, command.direction) == (opcode, direction)
    assert (command.key_min, command.key_max) == keys
    assert [option.mask for option in command.options] == options


@pytest.mark.parametrize("name", PLACES)
def test_the_three_places_are_reserved_and_zero_by_default(spec: Spec, name: str) -> None:
    places = {"rsvd_cdw11": "11[31:16]", "rsvd_cdw12": "12[31:0]", "rsvd_cdw13": "13[31:0]"}
    fields = {f.name: f for f in spec.command(name).fields}
    assert {n: _place(fields[n]) for n in places} == places
    assert {fields[n].value for n in places} == {0}


def _without_enumerator(facts: Facts, name: str) -> Facts:
    enums = tuple(
        Enum(e.name, tuple(n for n in e.enumerators if n.name != name)) for e in facts.enums
    )
    return replace(facts, enums=enums)


def test_a_missing_opcode_is_named_with_the_place_that_asks_for_it(make_spec, facts) -> None:
    with pytest.raises(XiokvError, match=r"commands\.toml:\d+: error: opcode of list: .*_KV_LIST"):
        make_spec(of=_without_enumerator(facts, "SPDK_NVME_OPC_KV_LIST"))


def test_facts_without_kv_say_from_which_release_on_it_is_there(make_spec, facts) -> None:
    others = tuple(e for e in facts.enums if e.name != "spdk_nvme_kv_opcode")
    with pytest.raises(XiokvError, match=r"first in v26\.05"):
        make_spec(of=replace(facts, enums=others))


def test_a_missing_member_is_named(make_spec, facts) -> None:
    records = tuple(
        replace(r, fields=r.fields[:1]) if r.name == "spdk_nvme_cmd_cdw11" else r
        for r in facts.records
    )
    with pytest.raises(XiokvError, match=r"no spdk_nvme_cmd\.cdw11_bits\.kv\.kl: no member 'kv'"):
        make_spec(of=replace(facts, records=records))


def test_equal_opcodes_are_refused_and_both_named(make_spec, facts) -> None:
    enums = tuple(
        Enum(e.name, tuple(replace(n, value=0x10) for n in e.enumerators))
        if e.name == "spdk_nvme_kv_opcode"
        else e
        for e in facts.enums
    )
    with pytest.raises(XiokvError, match=r"store \(XIOKV_OPC_STORE\) and retrieve .*opcode 0x10"):
        make_spec(of=replace(facts, enums=enums))


def test_an_option_of_two_bits_is_refused(make_spec, facts) -> None:
    enums = tuple(
        Enum(e.name, (replace(e.enumerators[0], value=3),))
        if e.name == "spdk_nvme_kv_retrieve_option"
        else e
        for e in facts.enums
    )
    with pytest.raises(XiokvError, match=r"retrieve: option .*RETRIEVE_RAW = 0x3 is not one bit"):
        make_spec(of=replace(facts, enums=enums))


def test_older_names_of_the_key_dwords_change_nothing(make_spec, facts, spec: Spec) -> None:
    """Trees before the command set called dwords 2 and 3 reserved."""
    older = {"cdw2": "rsvd2", "cdw3": "rsvd3"}
    records = tuple(
        replace(r, fields=tuple(replace(f, name=older.get(f.name, f.name)) for f in r.fields))
        for r in facts.records
    )
    renamed = make_spec(of=replace(facts, records=records))
    assert [c.fields for c in renamed.commands] == [c.fields for c in spec.commands]


def test_the_first_alternative_name_that_exists_is_taken(make_spec, spec: Spec) -> None:
    rules = load_commands()
    others = {
        "opcode": ("SPDK_NVME_OPC_KV_PUT", "SPDK_NVME_OPC_KV_STORE"),
        "options": ("spdk_nvme_kv_put_option", "spdk_nvme_kv_store_option"),
    }
    commands = tuple(replace(c, **others) if c.name == "store" else c for c in rules.commands)
    renamed = make_spec(rules=replace(rules, commands=commands))
    assert renamed.command("store") == spec.command("store")


def test_a_part_that_upstream_lacks_is_told_once_and_not_by_each_command(
    make_spec, facts: Facts
) -> None:
    entry = next(record for record in facts.records if record.name == "spdk_nvme_cmd")
    other = replace(entry, fields=(replace(entry.fields[0], name="code"), *entry.fields[1:]))
    records = tuple(other if record is entry else record for record in facts.records)
    with pytest.raises(XiokvError) as caught:
        make_spec(of=replace(facts, records=records))
    assert str(caught.value).count("the spec file has no spdk_nvme_cmd.opc") == 1


@pytest.mark.parametrize("python", ["Opcode", "Status", "CommandStatus", "StatusType"])
def test_an_upstream_without_an_enum_that_is_needed_is_told(
    make_spec, facts: Facts, spec: Spec, python: str
) -> None:
    gone = spec.enum(python).upstream
    without = replace(facts, enums=tuple(enum for enum in facts.enums if enum.name != gone))
    with pytest.raises(XiokvError, match="the spec file has no"):
        render_headers(make_spec(of=without))
