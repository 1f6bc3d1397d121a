"""What is taken from upstream, by name, and how a tree that is too old is known."""

from __future__ import annotations

FIRST_RELEASE = "v26.05"

# A tree without this enum has no NVMe-KV definitions at all.
KV_MARK = "spdk_nvme_kv_opcode"

CONSTANTS = (
    "SPDK_NVME_GLOBAL_NS_TAG",
    "SPDK_NVME_IDENTIFY_BUFLEN",
    "SPDK_NVME_KV_KEY_MAX_LEN",
    "SPDK_NVME_KV_KEY_MIN_LEN",
    "SPDK_NVME_KV_SPEC_VER",
)

ENUMS = (
    "spdk_nvme_command_specific_status_code",
    "spdk_nvme_csi",
    "spdk_nvme_generic_command_status_code",
    "spdk_nvme_kv_opcode",
    "spdk_nvme_kv_retrieve_option",
    "spdk_nvme_kv_store_option",
    "spdk_nvme_status_code_type",
)

RECORDS = (
    "spdk_nvme_cmd",
    "spdk_nvme_cpl",
    "spdk_nvme_kv_afo",
    "spdk_nvme_kv_ctrlr_data",
    "spdk_nvme_kv_format",
    "spdk_nvme_kv_kvfc",
    "spdk_nvme_kv_ns_data",
    "spdk_nvme_status",
)

# Unions with a member for every command of every command set: the members that are taken.
PARTIAL = {
    "spdk_nvme_cmd_cdw10": ("raw", "kv"),
    "spdk_nvme_cmd_cdw11": ("raw", "kv"),
    "spdk_nvme_cmd_cdw12": ("raw",),
    "spdk_nvme_cmd_cdw13": ("raw",),
}

# Members that only trees from before the first release have. Names of options are not among
# them: one that turns up again is a change of its sense, which a fetch has to tell as such.
OLD_MEMBERS = {
    "spdk_nvme_cmd": ("rsvd2", "rsvd3"),
    "spdk_nvme_kv_ctrlr_data": ("mks",),
    "spdk_nvme_kv_ns_data": ("mks", "mvs"),
}
