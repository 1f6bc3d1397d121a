"""The text of the rocm-xio headers: what compiles it, and what no formatter changes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from xiokv.codegen.bits import Bits
from xiokv.codegen.errors import XiokvError
from xiokv.codegen.facts import Enumerator, Facts
from xiokv.codegen.render.rocm_xio import rocm_xio_headers
from xiokv.codegen.semantics.docs import load_docs
from xiokv.codegen.semantics.exec import load_exec
from xiokv.codegen.spec.model import Profile, SemanticField, Spec

from .conftest import COMPILERS, CONSUMER

CLANG_FORMAT = Path(sys.executable).with_name("clang-format")
LLVM = "{BasedOnStyle: LLVM, ColumnLimit: 80}"
OFF = "// clang-format off\n"
# In the manner of the library's own style: other pointers, other order of includes.
THEIRS = "{BasedOnStyle: LLVM, PointerAlignment: Left, IncludeBlocks: Regroup, IndentWidth: 2}"
HOSTILE = 'end */ #error out\n#error "line" \\\n??/\n/* \\brief @brief """ %s {{ x }} \x00\u2028'


@pytest.fixture(scope="module")
def texts(spec: Spec) -> dict[str, str]:
    return rocm_xio_headers(spec)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("source", ["calls.cpp", "names.cpp"])
def test_the_library_compiles(compile_with: Any, headers: Path, compiler: str, source: str) -> None:
    compile_with(compiler, headers, "-fsyntax-only", CONSUMER / source)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", ["nvme-kv.h", "spdk-nvme-kv.h"])
def test_a_header_compiles_on_its_own_and_twice(
    compile_with: Any, headers: Path, tmp_path: Path, compiler: str, name: str
) -> None:
    unit = tmp_path / "unit.cpp"
    unit.write_text(f'#include "{name}"\n#include "{name}"\n', encoding="utf-8")
    compile_with(compiler, headers, "-fsyntax-only", unit)


@pytest.fixture
def other_library(tmp_path: Path) -> Path:
    """Return a library that has HIP and no header of its own for the entry."""
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "hip").symlink_to(CONSUMER / "hip")
    return tmp_path / "library"


ENTRY = (CONSUMER / "nvme-ep-generated.h").read_text(encoding="utf-8").replace("#pragma once", "")


def test_an_entry_that_the_includer_declares_is_enough(
    compile_with: Any, headers: Path, other_library: Path
) -> None:
    unit = other_library / "unit.cpp"
    unit.write_text(f'{ENTRY}#include "nvme-kv.h"\n', encoding="utf-8")
    compile_with("g++", headers, "-fsyntax-only", unit, beside=other_library)


@pytest.mark.parametrize(
    ("member", "wrong", "said"),
    [
        ("uint8_t flags;", "uint16_t flags;", "nvme_sqe has another size"),
        ("  uint32_t cdw13;\n  uint32_t cdw14;", "uint32_t cdw14, cdw13;", "cdw13 lies elsewhere"),
    ],
)
def test_an_entry_of_another_shape_does_not_compile(
    compile_with: Any, headers: Path, other_library: Path, member: str, wrong: str, said: str
) -> None:
    assert member in ENTRY
    unit = other_library / "unit.cpp"
    unit.write_text(f'{ENTRY.replace(member, wrong)}#include "nvme-kv.h"\n', encoding="utf-8")
    with pytest.raises(AssertionError, match=said):
        compile_with("g++", headers, "-fsyntax-only", unit, beside=other_library)


@pytest.mark.parametrize(
    ("compiler", "standard", "before", "said"),
    [
        ("g++", "-std=c++14", "", "nvme-kv.h needs C++17; give -std=c++17"),
        ("clang++-19", "-std=c++14", "", "nvme-kv.h needs C++17; give -std=c++17"),
        ("g++", "-xc", "", "nvme-kv.h needs C++17; give -std=c++17"),
        ("g++", "-std=c++17", "#define NVME_KV_H\n", "a hand-kept nvme-kv.h was included before"),
        ("g++", "-std=c++20", "#define NVME_KV_H\n", "a hand-kept nvme-kv.h was included before"),
    ],
)
def test_a_compiler_that_cannot_have_the_header_says_why(
    headers: Path, tmp_path: Path, compiler: str, standard: str, before: str, said: str
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    unit = tmp_path / "unit.cpp"
    unit.write_text(f'{before}#include "nvme-kv.h"\n', encoding="utf-8")
    includes = (f"-I{headers}", f"-I{CONSUMER}")
    command = (compiler, standard, "-fsyntax-only", *includes, unit)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    errors = re.findall("error: (.*)", done.stderr)
    assert said in errors[0]


def test_the_functions_compile_for_amd_gpus(
    compile_with: Any, headers: Path, tmp_path: Path
) -> None:
    flags = ("-x", "hip", "--offload-device-only", "--offload-arch=gfx942")
    bare = ("-nogpuinc", "-nogpulib", "--no-gpu-bundle-output", "-O2")
    listing = tmp_path / "kernels.s"
    kernels = CONSUMER / "kernels.hip"
    compile_with("clang-19", headers, *flags, *bare, "-S", "-o", listing, kernels)
    text = listing.read_text(encoding="utf-8")
    assert {"encode_keys", "encode_exec"} <= set(re.findall(r"^(\w+):", text, re.MULTILINE))


@pytest.mark.parametrize("style", [LLVM, THEIRS, "Google", "Mozilla"])
def test_clang_format_changes_nothing(texts: dict[str, str], tmp_path: Path, style: str) -> None:
    for path, text in texts.items():
        assert formatted(text, tmp_path / Path(path).name, style) == text, path


def test_the_text_is_in_llvm_style_of_80_columns(texts: dict[str, str], tmp_path: Path) -> None:
    for path, text in texts.items():
        open_to_change = text.replace(OFF, "")
        assert open_to_change != text
        assert formatted(open_to_change, tmp_path / Path(path).name, LLVM) == open_to_change, path
        assert [line for line in text.splitlines() if len(line) > 80] == []


def formatted(text: str, path: Path, style: str) -> str:
    """Return a header after `clang-format -i`."""
    if not CLANG_FORMAT.exists():
        pytest.skip("clang-format is not installed beside the interpreter")
    path.write_text(text, encoding="utf-8")
    subprocess.run([CLANG_FORMAT, f"--style={style}", "-i", path], check=True)
    return path.read_text(encoding="utf-8")


DECLARED = re.compile(
    r"(?:__host__ __device__ static inline \w+\s+|#define |enum (?=\w)|  (?=\w+ = 0x))(\w+)"
)


def test_every_public_symbol_is_documented(texts: dict[str, str]) -> None:
    for path, text in texts.items():
        bare = [
            found[1]
            for found in DECLARED.finditer(text)
            if not re.search(r"\*/\n\Z", text[: found.start()])
        ]
        assert bare == [], path
    kept = DECLARED.findall(texts["rocm-xio/nvme-kv.h"])
    assert {"kvSqeSetup", "kvExecSqeSetup", "NVME_KV_KEY_MAX_LEN", "nvme_kv_cmd_exec"} <= set(kept)


def test_every_parameter_and_every_result_is_documented(make_spec: Any) -> None:
    function = re.compile(
        r"/\*\*\n((?: \*.*\n)+)(?:\[\[nodiscard\]\] )?"
        r"__host__ __device__ static inline (\w+)\s+(\w+)\(([^)]*)\)"
    )
    found = function.findall(rocm_xio_headers(make_spec(LAYER))[KV])
    assert len(found) == 4 + 2
    for comment, result, name, parameters in found:
        named = [re.findall(r"\w+", p.partition("[")[0])[-1] for p in parameters.split(",")]
        assert re.findall(r"@param (\w+)", comment) == named, name
        assert ("@brief " in comment, "@return " in comment) == (True, result != "void"), name


LAYER = SemanticField("layer", 12, Bits(7, 0), "key", ("store",), "index", "A layer.")
KV, SPDK = "rocm-xio/nvme-kv.h", "rocm-xio/spdk-nvme-kv.h"


@pytest.mark.parametrize(
    ("profile", "changed"),
    [
        (Profile("another_name", ()), set()),
        (Profile("test", (LAYER,)), {KV}),
        (Profile("test", (replace(LAYER, bits=Bits(8, 0)),)), {KV}),
        (Profile("test", (), "input"), {KV}),
    ],
)
def test_text_and_hash_of_a_header_change_only_with_what_it_depends_on(
    make_spec: Any, texts: dict[str, str], profile: Profile, changed: set[str]
) -> None:
    found = rocm_xio_headers(make_spec(profile=profile))
    assert {path for path in texts if found[path] != texts[path]} == changed
    hashes = re.compile("^// (?:inputs|facts) ([0-9a-f]{64})$", re.MULTILINE)
    for path in texts:
        (was,), (now,) = hashes.findall(texts[path]), hashes.findall(found[path])
        assert (was != now) == (path in changed), path


def test_encoding_exec_elsewhere_changes_neither_text_nor_hash(
    make_spec: Any, texts: dict[str, str]
) -> None:
    assert rocm_xio_headers(make_spec(vendor=load_exec())) == texts


def test_fields_that_would_get_one_name_are_refused(make_spec: Any) -> None:
    other = replace(LAYER, name="layer_", bits=Bits(15, 8), source="mine.toml:9")
    with pytest.raises(XiokvError, match=r"^rocm-xio: mine.toml:9: .* both .* kvSqeSetLayer;"):
        rocm_xio_headers(make_spec(LAYER, other))


FIELDS = (
    *(replace(LAYER, name="f" + "x" * 31, dword=13), replace(LAYER, name="a", bits=Bits(31, 31))),
    replace(LAYER, name="a_rather_long_name_of_a_field_17", commands=("store", "list", "exist")),
    replace(LAYER, name="hostile", dword=11, bits=Bits(31, 16), unit=HOSTILE, meaning=HOSTILE),
)


def test_the_functions_of_fields_are_in_the_style_and_compile(
    compile_with: Any, make_spec: Any, write: Any, tmp_path: Path
) -> None:
    headers = write(make_spec(*FIELDS))
    text = (headers / "nvme-kv.h").read_text(encoding="utf-8").replace(OFF, "")
    assert formatted(text, tmp_path / "nvme-kv.h", LLVM) == text
    assert [line for line in text.splitlines() if len(line) > 80] == []
    for compiler in COMPILERS:
        flags = ("-Wcomment", "-fsyntax-only")
        compile_with(compiler, headers, *flags, CONSUMER / "names.cpp")


def test_hostile_text_stays_within_its_comment(
    compile_with: Any, make_spec: Any, write: Any, tmp_path: Path
) -> None:
    docs = load_docs() | {"XIOKV_OPC_STORE": HOSTILE, "XIOKV_SC_KEY_EXISTS": HOSTILE}
    headers = write(make_spec(docs=docs))
    for compiler in COMPILERS:
        compile_with(compiler, headers, "-Wcomment", "-fsyntax-only", CONSUMER / "names.cpp")


def with_enum(facts: Facts, tag: str, change: Any) -> Facts:
    """Return facts in which the enumerators of one enum are others."""
    enums = [
        replace(enum, enumerators=change(enum.enumerators)) if enum.name == tag else enum
        for enum in facts.enums
    ]
    return replace(facts, enums=tuple(enums))


@pytest.mark.parametrize(
    "taken",
    [Enumerator("SPDK_NVME_OPC_KV_APPEND", 0x83), Enumerator("SPDK_NVME_OPC_KV_EXEC", 0x18)],
)
def test_an_opcode_or_a_name_that_is_that_of_exec_is_refused(
    make_spec: Any, facts: Facts, taken: Enumerator
) -> None:
    changed = with_enum(facts, "spdk_nvme_kv_opcode", lambda given: (*given, taken))
    said = f"nvme_kv_cmd_exec, 0x83, has opcode or name of {taken.name}, {taken.value:#04x}"
    with pytest.raises(XiokvError, match=said):
        rocm_xio_headers(make_spec(of=changed))


def test_a_status_that_upstream_no_longer_has_is_named(make_spec: Any, facts: Facts) -> None:
    changed = with_enum(
        facts,
        "spdk_nvme_generic_command_status_code",
        lambda given: tuple(e for e in given if e.name != "SPDK_NVME_SC_INVALID_KEY_SIZE"),
    )
    with pytest.raises(XiokvError, match="no status code SPDK_NVME_SC_INVALID_KEY_SIZE"):
        rocm_xio_headers(make_spec(of=changed))


@pytest.mark.parametrize("path", ["rocm-xio/nvme-kv.h", "rocm-xio/spdk-nvme-kv.h"])
def test_a_header_opens_with_its_banner(texts: dict[str, str], spec: Spec, path: str) -> None:
    head = texts[path].partition("#pragma once")[0]
    for expected in ("SPDX-License-Identifier: MIT", "do not edit", "SPDK (BSD-3-Clause)", OFF):
        assert expected in head
    assert spec.provenance.commit in head
    assert (spec.identity.facts in head) == (path == SPDK)
