"""The vendor command Exec: where its parts lie, and that nothing is shadowed or changed by it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from xiokv.codegen.errors import ExitCode, XiokvError
from xiokv.codegen.facts import Enum, Enumerator, Facts
from xiokv.codegen.render.c import render_headers
from xiokv.codegen.render.engine import engine_outputs
from xiokv.codegen.render.python import twin
from xiokv.codegen.semantics.commands import load_commands
from xiokv.codegen.semantics.exec import load_exec
from xiokv.codegen.semantics.profiles import load_profile
from xiokv.codegen.spec.model import Profile, Spec

MakeSpec = Callable[..., Spec]
LENGTHS = {"payload": "payload_length", "input": "input_length"}
COMMANDS = [command.name for command in load_commands().commands]


@pytest.mark.parametrize(("length", "name"), LENGTHS.items())
def test_parts_lie_where_public_sources_put_them(
    make_spec: MakeSpec, length: str, name: str
) -> None:
    spec = make_spec(profile=Profile("test", (), length), vendor=load_exec())
    found: dict[str, list[str]] = {}
    for field in spec.command("exec").fields:
        found.setdefault(field.name, []).append(f"{field.dword}{field.bits}")
    zero = {f"rsvd_cdw{dword}": [f"{dword}[31:0]"] for dword in (2, 3, 11, 14, 15)}
    assert found == zero | {
        "opcode": ["0[7:0]"],
        "fuse": ["0[9:8]"],
        "rsvd_cdw0_10": ["0[13:10]"],
        "psdt": ["0[15:14]"],
        "cid": ["0[31:16]"],
        "nsid": ["1[31:0]"],
        "mptr": ["4[31:0]", "5[31:0]"],
        "dptr": [f"{dword}[31:0]" for dword in (6, 7, 8, 9)],
        name: ["10[31:0]"],
        "output_size": ["12[31:0]"],
        "operation": ["13[31:0]"],
    }


def test_it_is_a_vendor_s_command_with_a_longer_key(make_spec: MakeSpec) -> None:
    command = make_spec(vendor=load_exec()).command("exec")
    assert (command.opcode, command.symbol, command.upstream) == (0x83, "XIOKV_OPC_EXEC", "")
    assert (command.key_min, command.key_max) == (1, 255)
    assert command.direction == "bidirectional"


def test_what_the_length_means_is_part_of_the_identity(make_spec: MakeSpec) -> None:
    def identity(length: str, vendor: Any) -> str:
        return make_spec(profile=Profile("test", (), length), vendor=vendor).identity.spec

    payload, counted = (identity(length, load_exec()) for length in LENGTHS)
    plain = {identity(length, None) for length in LENGTHS}
    assert len({payload, counted, *plain}) == 3


def test_without_it_nothing_is_rendered_of_it(spec: Spec) -> None:
    texts = {**render_headers(spec), **engine_outputs(spec), "nvme_kv.py": twin(spec)}
    del texts["include/xiokv_emulator.h"]  # one controller, which can do it for who asks
    # A status code of the specification has these letters, too.
    hints = ("_exec", "exec_", "OPC_EXEC", "EXEC_KEY", "Exec")
    assert [p for p, text in texts.items() if any(hint in p + text for hint in hints)] == []


def test_with_it_the_engine_and_the_other_commands_stay_as_they_are(
    spec: Spec, make_spec: MakeSpec
) -> None:
    with_exec = make_spec(vendor=load_exec())
    plain, other = ({**render_headers(s), **engine_outputs(s)} for s in (spec, with_exec))
    kernels = "kernels/kv_kernels.cpp"
    assert set(other) - set(plain) == {
        "include/xiokv/kv_exec.h",
        "include/xiokv/kv_exec_payload.h",
    }
    differing = {path for path in plain if _without_spec(plain[path]) != _without_spec(other[path])}
    assert differing == {kernels, "kernels/kv_module.json", "include/xiokv/nvme_kv.h"}
    include = '#include "xiokv/kv_exec.h"\n'
    shared = _without_spec(other[kernels]).replace(include, "")
    assert shared.startswith(_without_spec(plain[kernels]))


def _without_spec(text: str) -> str:
    """Return a text without the identities that it names."""
    return re.sub("[0-9a-f]{64}", "", text)


def _with_opcode(facts: Facts, name: str, value: int) -> Facts:
    enums = tuple(
        Enum(e.name, (*e.enumerators, Enumerator(name, value)))
        if e.name == "spdk_nvme_kv_opcode"
        else e
        for e in facts.enums
    )
    return replace(facts, enums=enums)


@pytest.mark.parametrize(
    ("name", "value"),
    [("SPDK_NVME_OPC_KV_APPEND", 0x83), ("SPDK_NVME_OPC_KV_EXEC", 0x20)],
)
def test_it_never_shadows_a_standard_command(
    make_spec: MakeSpec, facts: Facts, name: str, value: int
) -> None:
    of = _with_opcode(facts, name, value)
    make_spec(of=of)
    with pytest.raises(XiokvError, match=rf"(?s)exec\.toml:\d+.*exec has.*0x83.*{name}") as caught:
        make_spec(of=of, vendor=load_exec())
    assert "set exec = false" in str(caught.value)


@pytest.mark.parametrize(("opcode", "said"), [(0x02, "KV_RETRIEVE"), (0x7F, "0x80 to 0xff")])
def test_its_opcode_is_a_vendor_s(make_spec: MakeSpec, opcode: int, said: str) -> None:
    with pytest.raises(XiokvError, match=said):
        make_spec(vendor=replace(load_exec(), opcode=opcode))


def _profile(folder: Path, text: str) -> Profile:
    path = folder / "profile.toml"
    path.write_text(f'schema = 1\nname = "mine"\n{text}', encoding="utf-8")
    return load_profile(path, COMMANDS, "profile.toml")


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("", "payload"),
        ('[exec]\nlength = "payload"\n', "payload"),
        ('[exec]\nlength = "input"\n', "input"),
    ],
)
def test_a_profile_chooses_what_the_length_counts(tmp_path: Path, text: str, length: str) -> None:
    assert _profile(tmp_path, text).exec_length == length


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[exec]\nlength = "key"\n', r'length = \'key\': write "payload" or "input"'),
        ("[exec]\nlength = 1\n", "length must be a string"),
        ('[exec]\nsize = "input"\n', "unknown key 'size' in .exec.; allowed: length"),
    ],
)
def test_another_choice_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(XiokvError, match=said):
        _profile(tmp_path, text)


def test_a_semantic_field_cannot_name_it(tmp_path: Path) -> None:
    field = (
        '[[field]]\nname = "tier"\ndword = 12\nbits = [3, 0]\nscope = "batch"\n'
        'commands = ["exec"]\nunit = "level"\nmeaning = "Tier."\n'
    )
    with pytest.raises(XiokvError, match=r"commands = .*name one or more of store") as caught:
        _profile(tmp_path, field)
    assert caught.value.exit_code is ExitCode.USAGE
