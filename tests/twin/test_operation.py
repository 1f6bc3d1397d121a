"""The commands as an enum of the twin: words both ways, opcodes, and any new command."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest

from xiokv.codegen.render.c import render_headers
from xiokv.codegen.render.python import twin as render_twin
from xiokv.codegen.semantics.commands import load_commands
from xiokv.generated import nvme_kv

OPCODES = {
    "store": 0x01,
    "retrieve": 0x02,
    "list": 0x06,
    "delete": 0x10,
    "exist": 0x14,
    "exec": 0x83,
}


def test_the_operations_are_the_commands_and_exec(twin: ModuleType) -> None:
    assert {o.word: o.opcode for o in twin.Operation} == OPCODES


@pytest.mark.parametrize("word", OPCODES)
def test_a_word_leads_to_its_operation_and_back(twin: ModuleType, word: str) -> None:
    operation = twin.Operation.from_word(word)
    assert (operation.name, str(operation), f"{operation}") == (word.upper(), word, word)


@pytest.mark.parametrize("word", ["Store", "", "stor", 1, None])
def test_another_word_is_refused_with_those_that_there_are(twin: ModuleType, word: object) -> None:
    with pytest.raises(ValueError, match=r"no operation; there are store, retrieve, list, .*exec"):
        twin.Operation.from_word(word)


def test_an_operation_is_encoded_as_its_opcode_is(twin: ModuleType) -> None:
    by_operation = twin.encode(twin.Operation.EXIST, nsid=1, key=b"a")
    assert by_operation == twin.encode(twin.Opcode.EXIST, nsid=1, key=b"a")


@pytest.mark.parametrize("enum", ["StoreOption", "RetrieveOption", "Status", "StatusType", "Csi"])
def test_an_enum_of_something_else_is_no_command_whatever_its_value(
    twin: ModuleType, enum: str
) -> None:
    for member in getattr(twin, enum):
        with pytest.raises(TypeError, match="is no command; give an Operation or an Opcode"):
            twin.encode(member, nsid=1, key=b"a")


@pytest.mark.parametrize("command", [1.0, None, b"store", ("store",)])
def test_what_is_neither_a_number_nor_a_name_is_no_command(
    twin: ModuleType, command: object
) -> None:
    with pytest.raises(TypeError, match="a command is an Operation, an Opcode or its name, not"):
        twin.encode(command, nsid=1, key=b"a")


def test_an_operation_of_another_twin_serves(twin: ModuleType) -> None:
    assert twin.encode(nvme_kv.Operation.EXIST, nsid=1, key=b"a")[0] == 0x14


def test_an_operation_without_an_encoder_is_refused_by_its_word(twin: ModuleType) -> None:
    with pytest.raises(ValueError, match="'exec' is no Key-Value command; there are store"):
        twin.encode(twin.Operation.EXEC, nsid=1, key=b"a")


def test_a_new_command_is_an_operation_by_itself(make_spec) -> None:
    rules = load_commands()
    touch = replace(rules.vendor[0], name="touch", opcode=0x90)
    spec = make_spec(rules=replace(rules, vendor=(*rules.vendor, touch)))
    assert '    TOUCH = "touch", 0x90\n' in render_twin(spec)
    assert "  TOUCH = 0x90,\n" in render_headers(spec)["include/xiokv/kv_operation.h"]


def test_an_opcode_of_a_vendor_that_a_command_has_is_refused(make_spec) -> None:
    rules = load_commands()
    clash = replace(rules.vendor[0], opcode=0x02)
    with pytest.raises(Exception, match=r"retrieve .* has the opcode of the vendor's exec, 0x02"):
        make_spec(rules=replace(rules, vendor=(clash,)))
