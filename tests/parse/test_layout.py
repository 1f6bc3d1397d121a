"""The layout rules agree with a C compiler on every kind of record."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from xiokv.codegen.errors import SourceError

CASES = {
    "padding before a wider member": "struct TAG { char a; int b; short c; };",
    "padding at the end": "struct TAG { long a; char b; };",
    "an empty record": "struct TAG { };",
    "bit-fields in one unit": "struct TAG { unsigned a : 3; unsigned b : 29; };",
    "a bit-field across a storage unit": "struct TAG { unsigned a : 20; unsigned b : 20; };",
    "bit-fields of different types": "struct TAG { short a : 9; char b : 5; long c : 40; "
    "int d : 3; };",
    "a bit-field behind a plain member": "struct TAG { char a; int b : 20; int c : 5; };",
    "a plain member behind a bit-field": "struct TAG { int a : 3; char b; short c; };",
    "a bit-field as wide as its type": "struct TAG { char a; int b : 32; long c : 64; };",
    "zero width closes a unit": "struct TAG { char a : 3; int : 0; char b : 3; };",
    "zero width of another type": "struct TAG { int a : 3; char : 0; int b : 3; long : 0; "
    "char c; };",
    "zero width under pack": "#pragma pack(1)\nstruct TAG { char a : 3; int : 0; char b; };\n"
    "#pragma pack()",
    "unnamed bit-fields do not align": "struct TAG { char a; int : 5; char b; long : 20; };",
    "an unnamed bit-field alone": "struct TAG { char a; int : 24; };",
    "a signed bit-field": "struct TAG { signed int a : 5; signed char b : 3; };",
    "bool": "struct TAG { _Bool a; _Bool b : 1; int c : 3; };",
    "pack(1)": "#pragma pack(push, 1)\nstruct TAG { char a; long b; short c; };\n#pragma pack(pop)",
    "pack(2)": "#pragma pack(2)\nstruct TAG { char a; long b; char c; };\n#pragma pack()",
    "pack(4) limits a wider type alone": "#pragma pack(4)\n"
    "struct TAG { char a; short b; long c; };\n#pragma pack()",
    "pack(push) without a value": "#pragma pack(2)\n#pragma pack(push)\n#pragma pack(1)\n"
    "#pragma pack(pop)\nstruct TAG { char a; long b; };\n#pragma pack()",
    "pack ends before the record": "#pragma pack(push, 1)\nstruct TAGx { char a; int b; };\n"
    "#pragma pack(pop)\nstruct TAG { char a; struct TAGx b; int c; };",
    "pack holds for inner records": "#pragma pack(1)\n"
    "struct TAG { char a; struct { char b; long c; } d; };\n#pragma pack()",
    "pack leaves an outer type alone": "struct TAGx { char a; int b; };\n#pragma pack(1)\n"
    "struct TAG { char a; struct TAGx b; };\n#pragma pack()",
    "bit-fields under pack(1)": "#pragma pack(1)\n"
    "struct TAG { unsigned a : 20; unsigned b : 20; long c : 50; char d; };\n#pragma pack()",
    "bit-fields under pack(2)": "#pragma pack(2)\n"
    "struct TAG { char a; unsigned b : 20; unsigned c : 20; };\n#pragma pack()",
    "packed behind the body": "struct TAG { char a; long b; int c : 3; int d : 31; } "
    "__attribute__((packed));",
    "packed before the tag": "struct __attribute__((__packed__)) TAG { char a; long b; };",
    "packed does not reach inner records": "struct TAG { char a; struct { char b; int c; } d; } "
    "__attribute__((packed));",
    "packed on an inner record": "struct TAG { char a; struct { char b; int c; } "
    "__attribute__((packed)) d; int e; };",
    "a union": "union TAG { char a[5]; int b; };",
    "bit-fields in a union": "union TAG { int a : 3; short b : 12; char c; };",
    "an unnamed bit-field in a union": "union TAG { char a; int : 20; };",
    "an anonymous union": "struct TAG { char a; union { int b; char c; }; short d; };",
    "anonymous records within each other": "struct TAG { char a; struct { char b; "
    "union { long c; struct { int d : 5; int e : 6; }; }; }; char f; };",
    "nested unions under pack": "#pragma pack(1)\nunion TAG { struct { char a; union { long b; "
    "int c; } d; } e; char f; };\n#pragma pack()",
    "arrays": "struct TAG { char a; short b[3]; char c[2][5]; long d[1]; };",
    "an array of records": "struct TAG { char a; struct { short b; char c; } d[3]; };",
    "an array length by sizeof": "struct TAG { long a; char b[64 - 2 * sizeof(int) - "
    "sizeof(struct { short x; })]; };",
    "an array length by a condition": "enum TAGe { TAGn = sizeof(long) == 8 ? 7 : -1 };\n"
    "struct TAG { char a[TAGn > 3 && !0 ? TAGn + 1 : 1]; int b; };",
    "an array length by offsetof": "#include <stddef.h>\nstruct TAGx { char a[3]; "
    "struct { int b[4]; } c; };\nstruct TAG { char d[offsetof(struct TAGx, c.b[2])]; };",
    "a flexible array": "struct TAG { char a; int b[]; };",
    "an array of no length": "struct TAG { char a; long b[0]; };",
    "enums as members": "enum TAGe { TAGa, TAGb };\nstruct TAG { char a; enum TAGe b; "
    "enum TAGe c : 2; };",
    "a 64-bit enum": "enum TAGe { TAGa = 1ULL << 40 };\nstruct TAG { char a; enum TAGe b; };",
    "a negative 64-bit enum": "enum TAGe { TAGa = -(1L << 40) };\n"
    "struct TAG { char a; enum TAGe b; };",
    "typedefs": "typedef struct { char a; int b; } TAGt;\ntypedef TAGt TAGu[2];\n"
    "struct TAG { char c; TAGu d; };",
    "pointers and floating point": "struct TAG { char a; void *b; int (*c)(int, char *); "
    "float d; double e; long double f; };",
    "several declarators": "struct TAG { char a : 3, b : 4, c; int *d, e, f[2]; };",
    "qualifiers": "struct TAG { const volatile unsigned long int a; long long unsigned b; };",
    "stdint types": "#include <stdint.h>\nstruct TAG { uint8_t a; int64_t b; uint16_t c; "
    "int32_t d : 9; };",
}


@pytest.fixture(scope="module")
def compared(compare_layouts):
    return compare_layouts(CASES)


@pytest.mark.parametrize("name", CASES)
def test_layout_is_that_of_the_compiler(name: str, compared) -> None:
    parsed, compiled = compared[name]
    assert parsed == compiled, CASES[name]


INTEGERS = st.sampled_from(["char", "short", "int", "long", "unsigned char", "unsigned long"])
WIDTHS = {"char": 8, "short": 16, "int": 32, "long": 64, "unsigned char": 8, "unsigned long": 64}


@st.composite
def member(draw, depth: int, declarators: list[str]) -> str:
    kind = draw(st.sampled_from(["plain", "bits", "bits", "unnamed", "array", "record"]))
    base = draw(INTEGERS)
    if kind == "bits":
        return f"{base} NAME : {draw(st.integers(1, WIDTHS[base]))};"
    if kind == "unnamed":
        return f"{base} : {draw(st.integers(0, WIDTHS[base]))};"
    if kind == "array":
        return f"{base} NAME[{draw(st.integers(1, 3))}];"
    if kind == "record" and depth:
        inner = draw(body(depth - 1, declarators))
        return f"{inner} {draw(st.sampled_from(declarators))};"
    return f"{base} NAME;"


@st.composite
def body(draw, depth: int, declarators: list[str]) -> str:
    members = draw(st.lists(member(depth, declarators), min_size=1, max_size=6))
    return f"{draw(st.sampled_from(['struct', 'union']))} {{ {' '.join(members)} }}"


@st.composite
def record(draw) -> str:
    pack = draw(st.sampled_from(["", "", "1", "2", "4", "8"]))
    packed = [] if pack > "1" else ["__attribute__((packed)) NAME"]
    text = draw(body(2, ["", "NAME", "NAME[2]", *packed])).replace(" {", " TAG {", 1)
    while "NAME" in text:
        text = text.replace("NAME", f"m{text.count('NAME')}", 1)
    return f"#pragma pack(push{pack and ', '}{pack})\n{text};\n#pragma pack(pop)\n"


@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # a record as found says enough; shrinking compiles for minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(sources=st.lists(record(), min_size=10, max_size=30))
def test_layout_of_random_records_is_that_of_the_compiler(sources, compare_layouts) -> None:
    named = {f"{index}: {source}": source for index, source in enumerate(sources)}
    for name, (parsed, compiled) in compare_layouts(named).items():
        assert parsed == compiled, name


FAULTS = {
    "width 33 does not fit a type of 32 bits": "struct TAG { int a : 33; };",
    "width 0 does not fit a type of 32 bits": "struct TAG { int a : 0; };",
    "a bit-field needs an integer type": "struct TAG { float a : 3; };",
    "array length -1 is below 0": "struct TAG { int a[-1]; };",
    "'TAG' contains itself": "struct TAG { struct TAG a; };",
    "'other' is used but defined in none": "struct TAG { struct other a; };",
    "attribute 'aligned' is not supported": "struct TAG { int a __attribute__((aligned(8))); };",
    "attribute 'packed' is not supported": "struct TAG { char b; int a __attribute__((packed)); };",
    "_Alignas is not supported": "struct TAG { _Alignas(8) char a; };",
    "__int128 is not supported": "struct TAG { __int128 a; };",
    "#pragma pack inside a declaration": "struct TAG { int a;\n#pragma pack(1)\n int b; };",
    "#pragma pack ( 3 ) is not understood": "#pragma pack(3)\nstruct TAG { int a; };",
    "#pragma pack(pop) without a push": "#pragma pack(pop)\nstruct TAG { int a; };",
    "#pragma scalar_storage_order changes layouts": "#pragma scalar_storage_order big-endian\n"
    "struct TAG { int a; };",
    "compilers differ on a packed record": "#pragma pack(2)\nstruct TAG { int a; } "
    "__attribute__((packed));",
    "no integer type holds every value": "enum TAG { TAGa = -1, TAGb = 1ULL << 63 };",
    "unknown type name 'uint128_t'": "struct TAG { int a; uint128_t b; };",
}


@pytest.mark.parametrize("message", FAULTS)
def test_a_layout_that_cannot_be_known_is_an_error(message: str, parse_types: Callable) -> None:
    with pytest.raises(SourceError) as caught:
        parse_types(FAULTS[message]).tagged("TAG")
    assert message in str(caught.value)
    assert caught.value.origin.line
    assert "^" in str(caught.value)
