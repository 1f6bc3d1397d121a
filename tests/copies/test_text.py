"""What a namespace changes in the rendered text, and what it leaves."""

from __future__ import annotations

import re
from typing import Any

import pytest

from xiokv.codegen.naming import Names
from xiokv.codegen.render.c import render_headers
from xiokv.codegen.render.engine import engine_outputs
from xiokv.codegen.render.namespaced import in_namespace
from xiokv.codegen.semantics.exec import load_exec

OPENING = "#ifdef __cplusplus\nnamespace acme::kv {\n#endif\n\n"
CLOSING = "\n#ifdef __cplusplus\n} // namespace acme::kv\n#endif\n"
ACME = Names("acme::kv")

Texts = dict[str, str]


@pytest.fixture(scope="module")
def usual(make_spec: Any) -> Texts:
    """Return headers and kernels of a project with Exec and without a namespace."""
    spec = make_spec(vendor=load_exec())
    return {**render_headers(spec), **engine_outputs(spec)}


@pytest.fixture(scope="module")
def named(usual: Texts) -> Texts:
    """Return the same in a namespace."""
    return in_namespace(usual, ACME)


def test_without_a_namespace_the_text_is_left_as_it_is(usual: Texts) -> None:
    assert in_namespace(usual, Names()) is usual


# The library's interface is one, under plain names: a copy of another name has none of it.
LIBRARY = {
    *("include/xiokv.h", "include/xiokv_emulator.h", "include/xiokv_rados.h"),
    "include/xiokv/host_streams.h",
}


def test_a_namespace_changes_names_alone(usual: Texts, named: Texts) -> None:
    """Its lines taken out and its names put back, the text is the usual one."""
    back = {}
    for path, text in named.items():
        for added, before in ((OPENING, ""), (CLOSING, ""), ("ACME_KV_", "XIOKV_")):
            text = text.replace(added, before)
        back[path.replace("/acme/kv/", "/xiokv/")] = text.replace("acme/kv/", "xiokv/")
    assert back == {path: text for path, text in usual.items() if path not in LIBRARY}
    assert usual.keys() >= LIBRARY


def test_all_that_is_declared_is_in_the_namespace(named: Texts) -> None:
    """What is left outside are comments, blank lines, and lines for the preprocessor."""
    for path, text in named.items():
        if path.endswith((".h", ".cpp")):
            inside = f"{re.escape(OPENING)}.*?{re.escape(CLOSING)}"
            outside = re.sub(inside, "", text, flags=re.DOTALL).splitlines()
            assert [n for n in outside if n and not n.startswith(("//", "#"))] == [], path
            assert OPENING in text, path


def test_no_file_is_included_into_the_namespace(named: Texts) -> None:
    for path, text in named.items():
        for stretch in text.split(OPENING)[1:]:
            inside = stretch.split(CLOSING)[0]
            assert re.search(r"^\s*#\s*(include|pragma once)", inside, re.MULTILINE) is None, path


def test_every_macro_has_the_projects_own_name(named: Texts) -> None:
    """The two that a user sets, for all copies alike, keep their names."""
    text = "".join(named.values())
    assert re.findall(r"#\s*define\s+(?!ACME_KV_)\w+", text) == []
    tested = set(re.findall(r"\bXIOKV_(?:NO_ENTRIES|PLATFORM_HEADER)\b", text))
    assert tested == {"XIOKV_NO_ENTRIES", "XIOKV_PLATFORM_HEADER"}


def test_an_include_under_a_condition_may_not_have_code_beside_it() -> None:
    text = '#ifdef A\n#include "xiokv/a.h"\nint a;\n#endif\n'
    with pytest.raises(ValueError, match="one condition holds code and an include"):
        in_namespace({"include/xiokv/kv_a.h": text}, ACME)


def test_code_between_includes_is_enclosed_by_itself() -> None:
    text = (
        "// a\n#pragma once\n\nint a;\n\n#if B\n# include <b.h>\n#else\n#if C\n#include <c.h>\n"
        "#endif\n#endif\n#define XIOKV_D \\\n  int d\n// e\n#include <e.h>\n\n#ifdef F\nXIOKV_D;\n"
        "#endif\n"
    )
    (found,) = in_namespace({"include/xiokv/kv_a.h": text}, ACME).values()
    assert found == (
        f"// a\n#pragma once\n\n{OPENING}int a;\n{CLOSING}\n#if B\n# include <b.h>\n#else\n#if C\n"
        "#include <c.h>\n#endif\n#endif\n#define ACME_KV_D \\\n  int d\n// e\n#include <e.h>\n\n"
        f"{OPENING}#ifdef F\nACME_KV_D;\n#endif\n{CLOSING}"
    )
