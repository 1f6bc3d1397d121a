"""The text of the headers: banner, width, format, documentation, no upstream include."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from xiokv.codegen.bits import Bits
from xiokv.codegen.render.c import render_headers
from xiokv.codegen.spec.model import SemanticField, Spec

GENERATED = ("include/xiokv/nvme_kv.h", "include/xiokv/kv_commands.h")
CLANG_FORMAT = Path(sys.executable).with_name("clang-format")
DECLARED = re.compile(
    r"(#define |enum |(struct|union) (XIOKV_ALIGNAS\(\d+\) )?|  (?=XIOKV_\w+ =)"
    r"|(?:XIOKV_HD )?static inline (?:struct |enum |const )?\w+[ *\n]+)(?P<name>\w+)"
)


@pytest.fixture(scope="module")
def texts(spec: Spec) -> dict[str, str]:
    return render_headers(spec)


@pytest.mark.parametrize("path", GENERATED)
def test_a_generated_header_opens_with_its_banner(
    texts: dict[str, str], spec: Spec, path: str
) -> None:
    head = texts[path].split("#pragma once")[0]
    for expected in (
        "SPDX-License-Identifier: MIT",
        "do not edit",
        "xiokv-gen build",
        "SPDK (BSD-3-Clause)",
        spec.provenance.commit,
        spec.identity.spec,
        "\n// clang-format off\n",
    ):
        assert expected in head


def test_rendering_twice_gives_the_same_text(texts: dict[str, str], spec: Spec) -> None:
    assert render_headers(spec) == texts


def test_no_line_is_longer_than_80_columns(texts: dict[str, str]) -> None:
    long = [(path, line) for path in texts for line in texts[path].splitlines() if len(line) > 80]
    assert long == []


@pytest.mark.parametrize("style", ["LLVM", "Google", "Mozilla"])
def test_clang_format_leaves_the_headers_alone(
    texts: dict[str, str], tmp_path: Path, style: str
) -> None:
    if not CLANG_FORMAT.exists():
        pytest.skip("clang-format is not installed beside the interpreter")
    for path, text in texts.items():
        header = tmp_path / Path(path).name
        header.write_text(text, encoding="utf-8")
        subprocess.run([CLANG_FORMAT, f"--style={style}", "-i", header], check=True)
        assert header.read_text(encoding="utf-8") == text, path


@pytest.mark.parametrize(
    ("unit", "meaning", "said"),
    [
        ("index", "Layer.", "/// Layer. Unit: index.\n"),
        ("", "Layer.", "/// Layer.\n"),
        ("index", "", "/// Unit: index.\n"),
        ("", "", ""),
        ("\x01", "\u2028", ""),
    ],
)
def test_a_comment_has_no_place_for_what_a_profile_leaves_empty(
    make_spec: Any, unit: str, meaning: str, said: str
) -> None:
    field = SemanticField("layer", 12, Bits(7, 0), "batch", ("store",), unit, meaning)
    text = render_headers(make_spec(field))["include/xiokv/kv_commands.h"]
    comment = text.split("xiokv_set_layer")[0].rpartition("\n\n")[2]
    paragraph = f"///\n{said}" if said else ""
    assert comment.startswith(
        f"/// @brief Place semantic field layer, CDW12[7:0], for a raw encoder.\n{paragraph}"
        "/// @param reserved"
    )
    assert f"/// @param layer{said[3:]}" in text if said else "/// @param layer\n" in text


def test_every_public_symbol_is_documented(texts: dict[str, str]) -> None:
    declared, documented = set(), set()
    for path in texts.keys() - {"include/xiokv/kv_abi.h"}:  # the engine's, for its own tests
        text = re.sub(r"(static inline [\w ]+)\n(?=xiokv_)", r"\1 ", texts[path])
        for before, line in pairwise(text.splitlines()):
            if found := DECLARED.match(line):
                declared.add(found["name"])
                documented |= {found["name"]} if "///" in before else set()
    assert declared - documented == set()
    assert {"XIOKV_HD", "xiokv_sqe", "xiokv_encode_store", "XIOKV_OPC_LIST"} <= documented


def test_every_member_is_documented(texts: dict[str, str]) -> None:
    lines = texts["include/xiokv/nvme_kv.h"].splitlines()
    member = re.compile(r" +\w[\w ]* \w+(\[\d+\])*( : \d+)?;")
    found = [(before, line) for before, line in pairwise(lines) if member.fullmatch(line)]
    assert [line for before, line in found if "///" not in before] == []
    assert len(found) > 90


def test_the_headers_include_only_the_standard_library_and_each_other(
    texts: dict[str, str],
) -> None:
    included = {
        name for text in texts.values() for name in re.findall(r'#include ["<](.*)[">]', text)
    }
    assert included - {path.removeprefix("include/") for path in texts} == {
        "stddef.h",
        "stdint.h",
    }


def test_an_unpinned_spec_shows_no_commit(make_spec: Any) -> None:
    spec = make_spec()
    unpinned = replace(spec, provenance=replace(spec.provenance, ref="", commit=""))
    assert "unpinned" in render_headers(unpinned)["include/xiokv/nvme_kv.h"]
