"""Profiles: what a field may be called, where it may lie, and what a mistake reads like."""

from __future__ import annotations

from pathlib import Path

import pytest

from xiokv.codegen.bits import Bits
from xiokv.codegen.errors import ExitCode, XiokvError
from xiokv.codegen.semantics.profiles import load_profile
from xiokv.codegen.spec.model import FieldKind

COMMANDS = ("store", "retrieve", "list", "delete", "exist")

HEAD = 'schema = 1\nname = "mine"\n'
GOOD = {
    "name": '"layer"',
    "dword": "12",
    "bits": "[15, 0]",
    "scope": '"batch"',
    "commands": '["store", "retrieve"]',
    "unit": '"index"',
    "meaning": '"The layer."',
}


def _field(**changed: str) -> str:
    lines = (f"{key} = {value}" for key, value in (GOOD | changed).items())
    return "[[field]]\n" + "\n".join(lines) + "\n"


@pytest.fixture
def merged(tmp_path: Path, make_spec):
    """Return a function that merges the facts with a profile's text."""

    def merge(text: str):
        path = tmp_path / "profile.toml"
        path.write_text(text, encoding="utf-8")
        return make_spec(profile=load_profile(path, COMMANDS, path.name))

    return merge


def test_a_declared_field_takes_its_bits_and_the_rest_stays_reserved(merged) -> None:
    store = merged(HEAD + _field()).command("store")
    fields = [(f.name, f.kind, f.bits) for f in store.dword(12)]
    assert fields == [
        ("layer", FieldKind.SEMANTIC, Bits(15, 0)),
        ("rsvd_cdw12_16", FieldKind.RESERVED, Bits(31, 16)),
    ]


def test_a_field_concerns_only_the_commands_that_it_names(merged) -> None:
    spec = merged(HEAD + _field())
    assert [f.name for f in spec.command("delete").dword(12)] == ["rsvd_cdw12"]


@pytest.mark.parametrize(
    ("dword", "bits"), [("11", "[31, 16]"), ("11", "[16, 16]"), ("12", "[31, 0]"), ("13", "[7, 4]")]
)
def test_legal_places(merged, dword: str, bits: str) -> None:
    field = merged(HEAD + _field(dword=dword, bits=bits)).profile.fields[0]
    assert f"{field.dword} [{field.bits.msb}, {field.bits.lsb}]" == f"{dword} {bits}"


def test_fields_of_different_commands_may_share_bits(merged) -> None:
    other = _field(name='"shard"', commands='["exist"]')
    spec = merged(HEAD + _field() + other)
    assert spec.command("exist").dword(12)[0].name == "shard"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        # Places
        ({"dword": "10"}, "'layer', CDW10[15:0], overlaps 'value_size', CDW10[31:0], of store"),
        ({"dword": "14"}, "'layer', CDW14[15:0], overlaps 'key', CDW14[31:0], of store"),
        ({"dword": "11"}, "'layer', CDW11[15:0], overlaps 'key_length', CDW11[7:0], of store"),
        (
            {"dword": "11", "bits": "[16, 15]"},
            "'layer', CDW11[16:15], overlaps 'options', CDW11[15:8], of store",
        ),
        (
            {"dword": "10", "commands": '["delete"]'},
            "'layer', CDW10[15:0], is out of the reserved places; a semantic field may lie in"
            " CDW11[31:16], CDW12[31:0], CDW13[31:0]",
        ),
        (
            {"dword": "11", "bits": "[15, 8]", "commands": '["delete"]'},
            "'layer', CDW11[15:8], is out of the reserved places",
        ),
        (
            {"dword": "11", "bits": "[16, 15]", "commands": '["exist"]'},
            "'layer', CDW11[16:15], is out of the reserved places",
        ),
        ({"dword": "16"}, "dword = 16: an entry has dwords 0 to 15"),
        ({"bits": "[0, 15]"}, "bits = [0, 15]: write [msb, lsb]"),
        ({"bits": "[32, 0]"}, "bits = [32, 0]: write [msb, lsb]"),
        ({"bits": "[3]"}, "bits = [3]: write [msb, lsb]"),
        ({"bits": '["3", 0]'}, "bits must be a list of integers, not '3'"),
        # Names
        ({"name": '"Layer"'}, "name 'Layer' is not allowed"),
        ({"name": '"1st"'}, "name '1st' is not allowed"),
        ({"name": f'"{"a" * 33}"'}, "is not allowed; a name is 1 to 32"),
        ({"name": '"a*/b"'}, "name 'a*/b' is not allowed"),
        ({"name": '"layer\\n"'}, "is not allowed"),
        ({"name": '"register"'}, "'register' is a keyword"),
        ({"name": '"namespace"'}, "'namespace' is a keyword"),
        ({"name": '"lambda"'}, "'lambda' is a keyword"),
        ({"name": '"linux"'}, "'linux' is a keyword or a predefined macro"),
        ({"name": '"key"'}, "'key' is already a parameter"),
        ({"name": '"noreturn"'}, "'noreturn' is a keyword or a predefined macro"),
        ({"name": '"uint32_t"'}, "'uint32_t' may be a type of C"),
        ({"name": '"xiokv_bits_set"'}, "may be a type of C or a name of this project"),
        ({"name": '"timeout"'}, "'timeout' is already a parameter"),
        ({"name": '"sizes"'}, "'sizes' is already a parameter"),
        ({"name": '"self"'}, "'self' is already a parameter"),
        ({"name": '"opcode"'}, "'opcode' has the name of a field of store"),
        # The rest
        ({"scope": '"queue"'}, 'scope = \'queue\': write "batch" or "key"'),
        ({"commands": '["store", "exec"]'}, "name one or more of store, retrieve, list, delete"),
        ({"commands": "[]"}, "commands = []: name one or more of"),
        ({"commands": '["store", "store"]'}, "each once"),
        ({"unit": "3"}, "unit must be a string, not 3"),
        ({"colour": '"red"'}, "unknown key 'colour'"),
    ],
)
def test_mistakes(merged, changed: dict[str, str], message: str) -> None:
    with pytest.raises(XiokvError) as caught:
        merged(HEAD + _field(**changed))
    assert message in str(caught.value)
    assert caught.value.exit_code is ExitCode.USAGE


def test_two_fields_on_the_same_bits_are_refused_with_both_places(merged) -> None:
    text = HEAD + _field() + _field(name='"shard"', bits="[20, 15]")
    with pytest.raises(XiokvError) as caught:
        merged(text)
    assert (
        "profile.toml:12: field 'shard', CDW12[20:15], overlaps 'layer', CDW12[15:0],"
        " of store (profile.toml:4)" in str(caught.value)
    )


def test_a_field_declared_twice_is_refused_with_both_places(merged) -> None:
    with pytest.raises(XiokvError, match=r"profile\.toml:12: .*'layer' is declared at .*:4 too"):
        merged(HEAD + _field() + _field(dword="13"))


def test_all_mistakes_are_reported_at_their_lines(merged) -> None:
    text = HEAD + _field(name='"class"') + _field(scope='"x"', name='"b"')
    with pytest.raises(XiokvError) as caught:
        merged(text)
    assert [line.split(": ")[0] for line in str(caught.value).splitlines()] == [
        "profile.toml:4",
        "profile.toml:15",
    ]


@pytest.mark.parametrize("key", [key for key in GOOD if key not in ("unit", "meaning")])
@pytest.mark.parametrize("value", ["1.5", "[[]]", None])
def test_a_value_that_cannot_be_read_is_told_once(merged, key: str, value: str | None) -> None:
    lines = (HEAD + _field()).splitlines()
    kept = [line for line in lines if not line.startswith(f"{key} = ") or line in HEAD]
    with pytest.raises(XiokvError) as caught:
        merged("\n".join(kept if value is None else [*kept, f"{key} = {value}"]))
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('schema = 2\nname = "x"\n', "schema = 2: this xiokv reads profiles of schema 1"),
        ('name = "x"\n', "lacks schema"),
        ("schema = 1\n", "lacks name"),
        ('schema = 1\nname = "../x"\n', "name '../x' is not allowed"),
        ("schema = \n", "profile.toml: not valid TOML"),
    ],
)
def test_a_broken_head_is_refused(merged, text: str, message: str) -> None:
    with pytest.raises(XiokvError) as caught:
        merged(text)
    assert message in str(caught.value)


def test_a_field_that_lacks_a_key_is_shown_where_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    field = '[[field]]\nname = "{}"\ndword = 12\nbits = [0, 0]\nscope = "key"\n'
    more = 'commands = ["store"]\nunit = "u"\n'
    text = 'schema = 1\nname = "p"\n' + field.format("a") + more + field.format("b") + more
    path.write_text(text + 'meaning = "m"\n', encoding="utf-8")
    with pytest.raises(XiokvError, match=r"^p.toml:3: field lacks meaning$"):
        load_profile(path, ("store",), "p.toml")


def test_one_table_in_place_of_a_list_says_how_to_write_it(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text('schema = 1\nname = "p"\n[field]\nname = "a"\n', encoding="utf-8")
    with pytest.raises(XiokvError, match=r"^p.toml:3: \[field\] is one .* write \[\[field\]\]$"):
        load_profile(path, ("store",), "p.toml")
