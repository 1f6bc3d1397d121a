"""The headers give the facts that the NVMe-KV command set is known by."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from xiokv.codegen.errors import XiokvError
from xiokv.codegen.facts import Facts
from xiokv.codegen.parse import parse_headers

HEADERS = Path(__file__).resolve().parents[1] / "data" / "headers"
SPEC = "include/spdk/nvme_spec.h"
KV = "include/spdk/nvme_kv.h"


@pytest.fixture(scope="module")
def facts() -> Facts:
    return parse_headers({path: (HEADERS / path).read_text("utf-8") for path in (SPEC, KV)})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SPDK_NVME_KV_KEY_MIN_LEN", 1),
        ("SPDK_NVME_KV_KEY_MAX_LEN", 16),
        ("SPDK_NVME_KV_SPEC_VER", 0x00010300),
        ("SPDK_NVME_GLOBAL_NS_TAG", 0xFFFFFFFF),
        ("SPDK_NVME_IDENTIFY_BUFLEN", 4096),
    ],
)
def test_constants(facts: Facts, name: str, value: int) -> None:
    constant = facts.constant(name)
    assert constant is not None
    assert constant.value == value


@pytest.mark.parametrize(
    ("enum", "name", "value"),
    [
        ("spdk_nvme_kv_opcode", "SPDK_NVME_OPC_KV_STORE", 0x01),
        ("spdk_nvme_kv_opcode", "SPDK_NVME_OPC_KV_EXIST", 0x14),
        ("spdk_nvme_kv_store_option", "SPDK_NVME_KV_STORE_OPT_DONT_COMPRESS", 4),
        ("spdk_nvme_kv_retrieve_option", "SPDK_NVME_KV_RETRIEVE_OPT_RETRIEVE_RAW", 1),
        ("spdk_nvme_generic_command_status_code", "SPDK_NVME_SC_KV_KEY_DOES_NOT_EXIST", 0x87),
        ("spdk_nvme_generic_command_status_code", "SPDK_NVME_SC_KEY_EXISTS", 0x89),
        ("spdk_nvme_command_specific_status_code", "SPDK_NVME_SC_INVALID_QUEUE_SIZE", 2),
        ("spdk_nvme_status_code_type", "SPDK_NVME_SCT_VENDOR_SPECIFIC", 7),
        ("spdk_nvme_csi", "SPDK_NVME_CSI_KV", 1),
    ],
)
def test_enumerators(facts: Facts, enum: str, name: str, value: int) -> None:
    found = facts.enum(enum)
    assert found is not None
    assert {e.name: e.value for e in found.enumerators}[name] == value


@pytest.mark.parametrize(
    ("record", "path", "bit", "width"),
    [
        ("spdk_nvme_cmd", "opc", 0, 8),
        ("spdk_nvme_cmd", "psdt", 14, 2),
        ("spdk_nvme_cmd", "cid", 16, 16),
        ("spdk_nvme_cmd", "cdw2", 64, 32),
        ("spdk_nvme_cmd", "dptr.prp.prp2", 256, 64),
        ("spdk_nvme_cmd", "cdw10", 320, 32),
        ("spdk_nvme_cmd", "cdw11_bits", 352, 32),
        ("spdk_nvme_cmd", "cdw15", 480, 32),
        ("spdk_nvme_cmd_cdw10", "kv.vsize", 0, 32),
        ("spdk_nvme_cmd_cdw11", "kv.kl", 0, 8),
        ("spdk_nvme_cmd_cdw11", "kv.ro", 8, 8),
        ("spdk_nvme_cpl", "cid", 96, 16),
        ("spdk_nvme_cpl", "status", 112, 16),
        ("spdk_nvme_status", "sc", 1, 8),
        ("spdk_nvme_status", "dnr", 15, 1),
        ("spdk_nvme_kv_ns_data", "nuse", 16 * 8, 64),
        ("spdk_nvme_kv_ns_data", "kvfc", 29 * 8, 8),
        ("spdk_nvme_kv_ns_data", "nguid", 48 * 8, 8),
        ("spdk_nvme_kv_ns_data", "kvf", 72 * 8, 128),
        ("spdk_nvme_kv_ns_data", "vendor_specific", 3840 * 8, 8),
        ("spdk_nvme_kv_format", "afo", 3 * 8, 8),
        ("spdk_nvme_kv_format", "kvvml", 4 * 8, 32),
        ("spdk_nvme_kv_ctrlr_data", "ver", 0, 32),
        ("spdk_nvme_sgl_descriptor", "keyed.key", 88, 32),
    ],
)
def test_members(facts: Facts, record: str, path: str, bit: int, width: int) -> None:
    found = facts.record(record)
    assert found is not None
    places = {name: (offset, field.width) for name, offset, field in found.walk()}
    assert places[path] == (bit, width)


def test_of_the_command_dword_unions_only_the_kv_members_are_taken(facts: Facts) -> None:
    taken = {r.name[-5:]: [f.name for f in r.fields] for r in facts.records if r.partial}
    assert taken == {
        "cdw10": ["raw", "kv"],
        "cdw11": ["raw", "kv"],
        "cdw12": ["raw"],
        "cdw13": ["raw"],
    }


def test_every_record_and_enum_that_is_referred_to_is_taken(facts: Facts) -> None:
    names = {group.name for group in (*facts.records, *facts.enums)}
    used = {f.type.name for r in facts.records for _, _, f in r.walk()}
    assert {name for name in used if name.startswith("spdk_")} <= names
    assert {"spdk_nvme_rescap", "spdk_nvme_nsattr", "spdk_nvme_sgl_descriptor"} <= names


REWRITES = {
    "CRLF line ends": lambda text: text.replace("\n", "\r\n"),
    "spaces for tabs": lambda text: text.replace("\t", "    "),
    "tabs for spaces": lambda text: text.replace(" :", "\t:\t"),
    "brace on the next line": lambda text: text.replace(" {", "\n{"),
    "comments within": lambda text: text.replace(",\n", ", /* } ; — ü */ // , {\n"),
    "a byte order mark": lambda text: "\ufeff" + text,
    "form feeds and odd line breaks": lambda text: text.replace(
        "\n/*", "\n\f/* \x85 \u2028 */\n/*"
    ),
    "no newline at the end": lambda text: text.rstrip(),
}


@pytest.mark.parametrize("form", REWRITES)
def test_the_form_of_the_text_changes_nothing(form: str, headers, facts: Facts) -> None:
    rewritten = {path: REWRITES[form](text) for path, text in headers.items()}
    assert rewritten != headers
    assert parse_headers(rewritten) == facts


PRINT_FACTS = """
import sys
from pathlib import Path
from xiokv.codegen.parse import parse_headers
folder, *paths = sys.argv[1:]
print(repr(parse_headers({path: Path(folder, path).read_text("utf-8") for path in paths})))
"""


def test_the_locale_changes_nothing(facts: Facts) -> None:
    result = subprocess.run(
        [sys.executable, "-c", PRINT_FACTS, str(HEADERS), SPEC, KV],
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == repr(facts)


@pytest.mark.parametrize("ref", ["v26.05", "master"])
def test_the_real_headers_state_the_same_facts(ref: str, spdk_git: Path, facts: Facts) -> None:
    assert parse_headers(real_texts(spdk_git, ref)) == facts


def test_the_release_before_the_first_with_kv_is_refused(spdk_git: Path) -> None:
    with pytest.raises(XiokvError, match=r"no NVMe-KV definitions \(first in v26\.05\)"):
        parse_headers(real_texts(spdk_git, "v26.01"))


def real_texts(git: Path, ref: str) -> dict[str, str]:
    texts = {}
    for path in (SPEC, KV):
        command = ["git", "--git-dir", str(git), "show", f"{ref}:{path}"]
        result = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
        if result.returncode == 0:
            texts[path] = result.stdout
    return texts
