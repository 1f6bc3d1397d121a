"""Changes between two trees are told in words, and breaking ones are known."""

from __future__ import annotations

import json

import pytest

from xiokv.codegen.diff import compare
from xiokv.codegen.parse import parse_headers

BREAKING = {
    "the sense of an option bit": (
        "SPDK_NVME_KV_STORE_OPT_DONT_COMPRESS = 1 << 2",
        "SPDK_NVME_KV_STORE_OPT_SQUEEZE = 1 << 2",
        "enum spdk_nvme_kv_store_option: SPDK_NVME_KV_STORE_OPT_DONT_COMPRESS renamed to "
        "SPDK_NVME_KV_STORE_OPT_SQUEEZE (value 0x4); its sense may have changed",
    ),
    "a value": (
        "SPDK_NVME_OPC_KV_LIST = 0x06",
        "SPDK_NVME_OPC_KV_LIST = 0x07",
        "enum spdk_nvme_kv_opcode: SPDK_NVME_OPC_KV_LIST: value 0x6 is now 0x7",
    ),
    "an enumerator taken away": (
        "\tSPDK_NVME_CSI_ZNS = 2,\n",
        "",
        "enum spdk_nvme_csi: SPDK_NVME_CSI_ZNS removed (value 0x2)",
    ),
    "a constant": (
        "SPDK_NVME_VERSION(1, 3, 0)",
        "SPDK_NVME_VERSION(1, 4, 0)",
        "constant SPDK_NVME_KV_SPEC_VER: value 66304 is now 66560",
    ),
    "a member renamed": (
        "\tuint64_t nuse;\n",
        "\tuint64_t used;\n",
        "record spdk_nvme_kv_ns_data: nuse renamed to used (uint64_t at byte 16, bit 0, 64 bits); "
        "its sense may have changed",
    ),
    "a member moved": (
        "\tuint8_t nsfeat;\n\tuint8_t nkvf;\n",
        "\tuint8_t nkvf;\n\tuint8_t nsfeat;\n",
        "record spdk_nvme_kv_ns_data, nsfeat: place byte 24, bit 0 is now byte 25, bit 0",
    ),
    "a width": (
        "\tuint8_t kvfi : 4;\n\tuint8_t reserved : 4;\n",
        "\tuint8_t kvfi : 5;\n\tuint8_t reserved : 3;\n",
        "record spdk_nvme_kv_kvfc, kvfi: width 4 bits is now 5 bits",
    ),
    "a sign": (
        "\tuint32_t novg;\n",
        "\tint32_t novg;\n",
        "record spdk_nvme_kv_ns_data, novg: type uint32_t is now int32_t",
    ),
    "an array length": (
        "kvf[16];\n\tuint8_t reserved328[3512]",
        "kvf[15];\n\tuint8_t reserved328[3528]",
        "record spdk_nvme_kv_ns_data, kvf: array [16] is now [15]",
    ),
    "a size": (
        "\tuint8_t vendor_specific[256];\n};\n"
        'SPDK_STATIC_ASSERT(sizeof(struct spdk_nvme_kv_ns_data) == 4096, "a page");\n',
        "\tuint8_t vendor_specific[264];\n};\n",
        "record spdk_nvme_kv_ns_data: size 4096 bytes is now 4104 bytes",
    ),
    "an alignment": (
        "#pragma pack(push, 1)\n",
        "#pragma pack(push, 8)\n",
        "record spdk_nvme_sgl_descriptor: alignment 1 bytes is now 8 bytes",
    ),
    "a plain member for a bit-field": (
        "\t\tuint32_t vsize : 32;",
        "\t\tuint32_t vsize;",
        "record spdk_nvme_cmd_cdw10, kv.vsize: form bit-field is now plain member",
    ),
}

COMPATIBLE = {
    "an enumerator": (
        "\tSPDK_NVME_CSI_ZNS = 2,\n",
        "\tSPDK_NVME_CSI_ZNS = 2,\n\tSPDK_NVME_CSI_CP = 4,\n",
        "compatible: enum spdk_nvme_csi: SPDK_NVME_CSI_CP added (value 0x4)",
    ),
    "the order of names": (
        "\tSPDK_NVME_CSI_NVM = 0,\n\tSPDK_NVME_CSI_KV = 1,\n",
        "\tSPDK_NVME_CSI_KV = 1,\n\tSPDK_NVME_CSI_NVM = 0,\n",
        "compatible: enum spdk_nvme_csi: the order of the names changed",
    ),
    "a name for reserved bits": (
        "\tuint8_t rfnvm : 7;\n",
        "\tuint8_t : 0;\n\tuint8_t rfnvm : 7;\n",
        "compatible: record spdk_nvme_fpi: unnamed members changed",
    ),
}


@pytest.mark.parametrize("change", BREAKING)
def test_a_breaking_change_is_told(change: str, headers, edited) -> None:
    old, new, line = BREAKING[change]
    changes = compare(parse_headers(headers), parse_headers(edited(old, new)))
    assert changes.breaking
    assert f"BREAKING: {line}" in changes.lines()


@pytest.mark.parametrize("change", COMPATIBLE)
def test_a_compatible_change_is_told_and_breaks_nobody(change: str, headers, edited) -> None:
    old, new, line = COMPATIBLE[change]
    changes = compare(parse_headers(headers), parse_headers(edited(old, new)))
    assert changes.lines() == [line]
    assert not changes.breaking


def test_equal_facts_have_no_changes(headers) -> None:
    changes = compare(parse_headers(headers), parse_headers(headers))
    assert changes.lines() == []
    assert not changes.breaking


def test_a_definition_that_only_moves_in_the_text_is_no_change(headers, edited) -> None:
    moved = edited('#include "spdk/assert.h"\n', '#include "spdk/assert.h"\n\n\n/* moved */\n')
    assert compare(parse_headers(headers), parse_headers(moved)).lines() == []


def test_an_added_member_is_compatible_but_what_it_moves_is_not(headers, edited) -> None:
    new = edited("\tuint8_t reserved30[2];\n", "\tuint8_t extra;\n\tuint8_t reserved30[1];\n")
    lines = compare(parse_headers(headers), parse_headers(new)).lines()
    assert lines == [
        "BREAKING: record spdk_nvme_kv_ns_data, reserved30: "
        "place byte 30, bit 0 is now byte 31, bit 0",
        "BREAKING: record spdk_nvme_kv_ns_data, reserved30: array [2] is now [1]",
        "compatible: record spdk_nvme_kv_ns_data: extra added (uint8_t at byte 30, bit 0, 8 bits)",
    ]


def test_breaking_changes_come_first(headers, edited) -> None:
    new = edited(
        "\tSPDK_NVME_CSI_ZNS = 2,\n", "\tSPDK_NVME_CSI_ZNS = 3,\n\tSPDK_NVME_CSI_CP = 4,\n"
    )
    changes = compare(parse_headers(headers), parse_headers(new))
    assert [line.split(":")[0] for line in changes.lines()] == ["BREAKING", "compatible"]
    assert [change.breaking for change in changes.found] == [False, True]


def test_changes_are_json(headers, edited) -> None:
    new = edited("SPDK_NVME_CSI_ZNS = 2", "SPDK_NVME_CSI_ZNS = 3")
    changes = compare(parse_headers(headers), parse_headers(new))
    assert json.loads(json.dumps(changes.as_json())) == {
        "breaking": True,
        "changes": [
            {
                "subject": "enum spdk_nvme_csi",
                "text": "SPDK_NVME_CSI_ZNS: value 0x2 is now 0x3",
                "breaking": True,
            }
        ],
    }
