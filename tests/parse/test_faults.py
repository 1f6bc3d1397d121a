"""What cannot be understood is shown at its place, and matters only where it is needed."""

from __future__ import annotations

import subprocess
from importlib import import_module
from pathlib import Path

import pytest

from xiokv.codegen.errors import SourceError, XiokvError
from xiokv.codegen.parse import parse_headers
from xiokv.codegen.parse.asserts import check_asserts
from xiokv.codegen.parse.chunks import split
from xiokv.codegen.parse.declarations import declare
from xiokv.codegen.parse.preprocess import preprocess
from xiokv.codegen.parse.resolve import Types

SPEC = "include/spdk/nvme_spec.h"
KVFC = "\tuint8_t kvfi : 4;\n"


def place_of(text: str, marked: str) -> tuple[int, int]:
    """Return line and column of a passage, counted by hand from 1."""
    before = text[: text.index(marked)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


@pytest.mark.parametrize(
    ("new", "marked", "message"),
    [
        ("\tnibble_t kvfi : 4;\n", "nibble_t", "unknown type name 'nibble_t'"),
        ("\tuint8_t kvfi @ 4;\n", "@", "not understood near '@'"),
        ("\tuint8_t kvfi 4;\n", "4", "not understood near '4'"),
        ("\tuint8_t kvfi : WIDE;\n", "WIDE", "'WIDE' is not a constant"),
        ("\tuint8_t kvfi : 9;\n", "9", "width 9 does not fit a type of 8 bits"),
        ("\tfloat kvfi;\n", "kvfi", "'kvfi' is neither an integer, an enum nor a record"),
        ("\tvoid *kvfi;\n", "*kvfi", "'kvfi' is neither an integer, an enum nor a record"),
        ("\tuint8_t kvfi __attribute__((aligned(2)));\n", "aligned", "attribute 'aligned'"),
    ],
)
def test_a_fault_in_what_is_needed_shows_its_place(edited, new, marked, message) -> None:
    texts = edited(KVFC, new)
    texts[SPEC] = (
        texts[SPEC]
        .replace('SPDK_STATIC_ASSERT(sizeof(struct spdk_nvme_kv_kvfc) == 1, "a byte");\n', "")
        .replace('SPDK_STATIC_ASSERT(sizeof(struct spdk_nvme_kv_ns_data) == 4096, "a page");\n', "")
    )
    start = texts[SPEC].index(new)
    line, column = place_of(texts[SPEC], texts[SPEC][start:])
    column += new.index(marked)
    with pytest.raises(XiokvError) as caught:
        parse_headers(texts)
    shown = str(caught.value).splitlines()[:3]
    assert shown[0].startswith(f"{SPEC}:{line}:{column}: error: ")
    assert message in shown[0]
    assert shown[1] == "    " + new.rstrip("\n").replace("\t", " ")
    assert shown[2] == " " * (4 + column - 1) + "^"


@pytest.mark.parametrize(
    "foreign",
    [
        "struct foreign { strange_t x; };",
        "typedef __typeof__(1) strange_t;",
        "struct foreign { int x : 40; };",
        "struct foreign { int x[ABSENT]; };",
        "enum foreign { HERE = ABSENT };",
        "struct foreign { int x; } __attribute__((aligned(64), vector_size(16)));",
        'extern int x __asm__("y");',
        "static inline int f(int x) { return ({ int y = x; y; }); }",
        "int g(struct elsewhere *x, strange_t *y);",
        "@ $ `;",
        "#pragma GCC diagnostic push",
        "#include <sys/elsewhere.h>",
        '_Static_assert(1, "not a macro");',
        "#define SPDK_STATIC_ASSERT(cond, msg)\n",
        "#undef SPDK_STATIC_ASSERT\n",
    ],
)
def test_a_strange_construct_elsewhere_is_nobody_s_business(headers, edited, foreign) -> None:
    mark = "#pragma pack(push, 1)\n"
    assert parse_headers(edited(mark, f"{foreign}\n{mark}")) == parse_headers(headers)


def asserts_of(text: str) -> int:
    declarations = declare(split(preprocess({"h.h": text}).items))
    return check_asserts(declarations, Types(declarations))


def test_every_static_assert_is_evaluated(headers) -> None:
    declarations = declare(split(preprocess(headers).items))
    stated = headers[SPEC].count("\nSPDK_STATIC_ASSERT(")
    assert check_asserts(declarations, Types(declarations)) == stated


def test_every_static_assert_of_the_real_tree_is_evaluated(spdk_git: Path) -> None:
    for ref, stated in (("v26.05", 150), ("master", 152)):
        command = ["git", "--git-dir", str(spdk_git), "show", f"{ref}:{SPEC}"]
        text = subprocess.run(command, capture_output=True, check=True).stdout.decode()
        declarations = declare(split(preprocess({SPEC: text}).items))
        assert check_asserts(declarations, Types(declarations)) == stated


def test_a_static_assert_that_fails_names_its_text_both_values_and_its_place() -> None:
    text = 'struct a { int x; };\n\nSPDK_STATIC_ASSERT(sizeof(struct a) ==\n\t5, "no");\n'
    with pytest.raises(SourceError) as caught:
        asserts_of(text)
    shown = str(caught.value)
    assert shown.startswith("h.h:3:")
    assert "static assert fails: (sizeof(struct a)) == 5" in shown
    assert "the left side is 4, the right side is 5" in shown
    assert "SPDK_STATIC_ASSERT(sizeof(struct a) ==" in shown


def test_all_static_asserts_that_fail_are_reported() -> None:
    with pytest.raises(XiokvError) as caught:
        asserts_of('SPDK_STATIC_ASSERT(1 == 2, "");\nSPDK_STATIC_ASSERT(0, "");\n')
    assert "h.h:1:" in str(caught.value)
    assert "h.h:2:" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("struct a { strange_t x; };", "unknown type name 'strange_t'"),
        ("struct a { int x __attribute__((aligned(8))); };", "attribute 'aligned'"),
        ("", "'a' is used but defined in none"),
    ],
)
def test_a_static_assert_about_a_type_without_layout_is_an_error(text: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        asserts_of(f'{text}\nSPDK_STATIC_ASSERT(sizeof(struct a) == 4, "");\n')


@pytest.mark.parametrize(
    "text",
    [
        'struct a { int x; _Static_assert(1 == 2, ""); };',
        'static inline int f(void) { SPDK_STATIC_ASSERT(1 == 2, ""); return 0; }',
        'UNKNOWN_MACRO(x)\n_Static_assert(1 == 2, "");',
    ],
)
def test_a_static_assert_within_something_else_is_evaluated(text: str) -> None:
    with pytest.raises(SourceError, match="static assert fails: 1 == 2"):
        asserts_of(text)


def test_a_static_assert_that_is_not_understood_is_an_error() -> None:
    with pytest.raises(SourceError, match="not understood"):
        asserts_of('SPDK_STATIC_ASSERT(sizeof(struct) ==, "");\n')


def test_an_inserted_member_fails_a_static_assert_before_anything_is_taken(edited) -> None:
    with pytest.raises(SourceError, match=r"sizeof\(struct spdk_nvme_kv_ns_data\)"):
        parse_headers(edited("\tuint8_t nkvf;\n", "\tuint8_t nkvf;\n\tuint8_t more;\n"))


def test_a_condition_that_never_ends_is_an_error_at_its_place() -> None:
    with pytest.raises(SourceError, match=r"^h\.h:2:1: error: Unterminated #if 1"):
        preprocess({"h.h": "int x;\n#if 1\nint y;\n"})


def test_an_error_directive_is_an_error_at_its_place() -> None:
    with pytest.raises(SourceError, match=r"^h\.h:1:1: error: #error unsupported"):
        preprocess({"h.h": "#error unsupported\n"})


def test_a_tree_without_kv_is_refused_with_the_first_release() -> None:
    with pytest.raises(XiokvError) as caught:
        parse_headers({SPEC: "enum spdk_nvme_csi { SPDK_NVME_CSI_KV = 1 };\n"})
    assert "this SPDK has no NVMe-KV definitions (first in v26.05)" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [
        ("\tuint32_t cdw2, cdw3;\n", "\tuint32_t rsvd2, rsvd3;\n", "rsvd2"),
        ("\tuint32_t ver;\n", "\tuint8_t mks; uint8_t pad[3];\n", "mks"),
    ],
)
def test_a_tree_from_before_the_first_release_is_too_old(edited, old, new, seen) -> None:
    with pytest.raises(XiokvError) as caught:
        parse_headers(edited(old, new))
    assert "too old" in str(caught.value)
    assert seen in str(caught.value)
    assert "v26.05" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "missing"),
    [
        ("enum spdk_nvme_csi {", "enum spdk_nvme_cset {", "enum spdk_nvme_csi"),
        (
            "#define SPDK_NVME_KV_SPEC_VER",
            "#define SPDK_NVME_KV_VERSION",
            "macro SPDK_NVME_KV_SPEC_VER",
        ),
        (
            "\t} kv;\n};\nSPDK_STATIC_ASSERT(sizeof(union spdk_nvme_cmd_cdw10)",
            "\t} value;\n};\nSPDK_STATIC_ASSERT(sizeof(union spdk_nvme_cmd_cdw10)",
            "union spdk_nvme_cmd_cdw10 has no member 'kv'",
        ),
    ],
)
def test_a_name_that_upstream_no_longer_has_is_an_error_that_names_it(
    edited, old, new, missing
) -> None:
    texts = edited(old, new)
    with pytest.raises(XiokvError) as caught:
        parse_headers(texts)
    assert missing in str(caught.value)


def test_all_missing_names_are_reported(headers) -> None:
    del headers["include/spdk/nvme_kv.h"]
    with pytest.raises(XiokvError) as caught:
        parse_headers(headers)
    assert "SPDK_NVME_KV_KEY_MIN_LEN" in str(caught.value)
    assert "SPDK_NVME_KV_KEY_MAX_LEN" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "#define",
        "#ifdef",
        "#if 1 +",
        "#if 1 / 0\n#endif",
        "#endif",
        "#include <x",
        "#pragma pack(push, 1, 2)",
        "enum spdk_nvme_kv_opcode { A = 08 };",
        "enum spdk_nvme_kv_opcode { };",
        "struct spdk_nvme_kv_opcode { int x; };",
        "enum spdk_nvme_kv_opcode { A };\nstruct spdk_nvme_kv_store_option { int x; };",
        "enum spdk_nvme_kv_opcode { A = " + "(" * 5000 + "1" + ")" * 5000 + " };",
        "#define SPDK_NVME_KV_SPEC_VER 1; int y = 3\nenum spdk_nvme_kv_opcode { A };",
        "#define SPDK_NVME_KV_SPEC_VER )\nenum spdk_nvme_kv_opcode { A };",
        "typedef b a; typedef a b; enum spdk_nvme_kv_opcode { A = sizeof(a) };",
        "_Static_assert(",
        "_Static_assert;",
        "__attribute__((packed",
        "struct {",
        "}",
        "\0",
        "",
        "<html>404: Not Found</html>",
    ],
)
def test_a_malformed_text_is_an_error_and_no_traceback(text: str) -> None:
    with pytest.raises(XiokvError):
        parse_headers({"h.h": text})


CHAIN = "".join(f"struct a{n + 1} {{ struct a{n} x; }};\n" for n in range(900))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'enum a {{ A = 1{" + 0" * 5000} }};\n_Static_assert(A == 1, "");', "nested too deeply"),
        (f'struct a0 {{ int x; }};\n{CHAIN}_Static_assert(sizeof(struct a900), "");', "nested"),
        ('#include "a.h"', "a.h: included by itself without end"),
        ("#if 1 / 0\n#endif", "a.h:1:1: error: this expression cannot be evaluated"),
        ('#if "a"\n#endif', "a.h:1:1: error: this expression cannot be evaluated"),
        ("#error nope due to rain", "a.h:1:1: error: #error nope due to rain"),
    ],
)
def test_a_text_without_end_or_sense_is_an_error(headers, text: str, message: str) -> None:
    with pytest.raises(XiokvError) as caught:
        parse_headers(headers | {"a.h": text})
    assert message in str(caught.value).splitlines()[0]


def test_a_macro_that_expands_without_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("xiokv.codegen.parse.preprocess"), "_MOST_TOKENS", 1000)
    macros = "".join(f"#define M{n + 1} {f'M{n} ' * 8}\n" for n in range(40))
    with pytest.raises(XiokvError, match=r"^a\.h:\d+:1: error: macro M40 expands without end"):
        parse_headers({"a.h": f"{macros}int x[] = {{ M40 }};\n"})
