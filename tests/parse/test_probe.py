"""A C compiler proves the layout; without one the facts stand."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from xiokv.codegen.errors import XiokvError
from xiokv.codegen.facts import Facts
from xiokv.codegen.parse import parse_headers
from xiokv.codegen.parse.probe import prove_layout

SPEC = "include/spdk/nvme_spec.h"


@pytest.fixture
def facts(headers) -> Facts:
    return parse_headers(headers)


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that makes a shell script, or a link to a compiler, the only cc."""

    def install(what: str) -> None:
        cc = tmp_path / "cc"
        if found := shutil.which(what):
            cc.symlink_to(found)
        else:
            cc.write_text(f"#!/bin/sh\n{what}\n", encoding="utf-8")
            cc.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    return install


@pytest.mark.parametrize("name", ["gcc", "clang-19"])
def test_the_compiler_that_agrees_is_named(facts: Facts, headers, compiler, name: str) -> None:
    if not shutil.which(name):
        pytest.skip(f"no {name}")
    compiler(name)
    assert prove_layout(facts, headers).startswith("layout: proved by cc (")


def test_nothing_that_was_fetched_is_run(facts: Facts, edited, tmp_path: Path) -> None:
    mark = '#include "spdk/assert.h"\n'
    touch = f'extern int system(const char *); system("touch {tmp_path}/ran");'
    code = f"__attribute__((constructor)) static void f(void) {{ {touch} }}\n"
    assert prove_layout(facts, edited(mark, mark + code)).startswith("layout: proved by")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("exit 0", "makes no object file that holds its constants"),
        ("exit 3", "cannot read the headers by themselves (exit status 3)"),
        ("kill -9 $$", "cannot read the headers by themselves (exit status -9)"),
    ],
)
def test_a_compiler_that_does_not_compile_proves_nothing(
    facts: Facts, headers, compiler, script: str, line: str
) -> None:
    compiler(script)
    assert prove_layout(facts, headers) == f"layout: not proved, cc {line}"


def test_a_compiler_that_does_not_end_is_left(
    facts: Facts, headers, compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xiokv.codegen.parse.translate._SECONDS", 0.1)
    compiler("sleep 600 & wait")
    assert "(not done after 0.1 s)" in prove_layout(facts, headers)


def test_a_header_without_end_is_bounded(facts: Facts, edited) -> None:
    mark = '#include "spdk/assert.h"\n'
    line = prove_layout(facts, edited(mark, f"{mark}#include </dev/zero>\n"))
    assert line.startswith("layout: not proved")


def test_no_room_for_the_probe_leaves_the_layout_unproved(
    facts: Facts, headers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/proc/none")
    assert prove_layout(facts, headers).startswith("layout: not proved, cc cannot be run here")


def test_a_place_that_differs_is_an_error_with_both_values(facts: Facts, edited) -> None:
    swapped = edited("\tuint32_t cdw2, cdw3;\n", "\tuint32_t cdw3, cdw2;\n")
    with pytest.raises(XiokvError) as caught:
        prove_layout(facts, swapped)
    assert "struct spdk_nvme_cmd.cdw2 place is 64 here but 96 by cc" in str(caught.value)


def test_a_bit_field_that_differs_is_an_error_with_both_values(facts: Facts, edited) -> None:
    moved = edited("\tuint16_t fuse\t:  2;\n", "\tuint16_t fuse\t:  1;\n\tuint16_t : 1;\n")
    with pytest.raises(XiokvError) as caught:
        prove_layout(facts, moved)
    assert "struct spdk_nvme_cmd.fuse width is 2 here but 1 by cc" in str(caught.value)


def test_a_value_that_differs_is_an_error_with_both_values(facts: Facts, edited) -> None:
    with pytest.raises(XiokvError) as caught:
        prove_layout(facts, edited("SPDK_NVME_OPC_KV_LIST = 0x06", "SPDK_NVME_OPC_KV_LIST = 0x07"))
    assert "SPDK_NVME_OPC_KV_LIST is 6 here but 7 by cc" in str(caught.value)


def test_a_member_that_the_headers_lack_is_an_error(facts: Facts, edited) -> None:
    with pytest.raises(XiokvError, match=r"cc does not find in the headers .*nuse"):
        prove_layout(facts, edited("\tuint64_t nuse;\n", "\tuint64_t used;\n"))


def test_a_static_assert_that_only_the_compiler_refuses_is_an_error(facts: Facts, edited) -> None:
    with pytest.raises(XiokvError, match="cc refuses a static assert"):
        prove_layout(facts, edited("(sizeof(struct spdk_nvme_fpi) == 1", "(sizeof(void *) == 1"))


def test_a_compiler_that_lays_out_otherwise_is_found_out(facts: Facts, headers) -> None:
    records = tuple(replace(record, size=record.size + 1) for record in facts.records)
    with pytest.raises(XiokvError, match=r"sizeof\(struct spdk_nvme_cmd\) is 65 here but 64"):
        prove_layout(replace(facts, records=records), headers)


def test_without_a_compiler_a_line_says_so(
    facts: Facts, headers, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert prove_layout(facts, headers).startswith("layout: no C compiler found")


def test_headers_that_need_others_leave_the_layout_unproved(facts: Facts, edited) -> None:
    needy = edited('#include "spdk/assert.h"\n', '#include "spdk/assert.h"\nstrange_t x;\n')
    line = prove_layout(facts, needy)
    assert line.startswith("layout: not proved")
    assert "strange_t" in line
