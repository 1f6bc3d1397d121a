/* SPDX-License-Identifier: MIT
 *
 * A small stand-in for the upstream header of this name, written for the tests: the same
 * names, values and places, and every construct of C that the parser has to know, but
 * none of the upstream text. Edit it by hand.
 */
#ifndef SPDK_NVME_SPEC_H
#define SPDK_NVME_SPEC_H

#include "spdk/stdinc.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "spdk/assert.h"

/* All namespaces at once; a cast within a macro. */
#define SPDK_NVME_GLOBAL_NS_TAG ((uint32_t)0xFFFFFFFF)

/* A function-like macro over three lines, used by another macro below. */
#define SPDK_NVME_VERSION(major, minor, tertiary) \
	(((uint32_t)(major) << 16) |              \
	 ((uint32_t)(minor) << 8) | (uint32_t)(tertiary))

SPDK_STATIC_ASSERT(SPDK_NVME_VERSION(1, 2, 1) == 0x00010201, "three bytes of a version");

/* -- Constructs that only declarations outside the taken ones use -------------------- */

enum test_signed {
	TEST_MINUS = -(3),
	TEST_FOLLOWS, /* -2 */
	TEST_SHIFTED = 1 << 4 | 1,
};

enum test_wide {
	TEST_64_BIT = 1ULL << 63,
	TEST_ALL_64 = ~0ULL,
};
SPDK_STATIC_ASSERT(TEST_FOLLOWS == -2 && TEST_64_BIT > 0xFFFFFFFF, "signs and widths");

enum test_narrow { TEST_CHOSEN = sizeof(uint64_t) == 8 ? 'k' : -1 };

struct test_register_file {
	uint64_t first;
	uint32_t second;
	uint32_t gap[(0x40 - 0x0c) / sizeof(uint32_t)];
	uint64_t last[2];
};
SPDK_STATIC_ASSERT(0x40 == offsetof(struct test_register_file, last),
		   "an assert over two lines");
SPDK_STATIC_ASSERT(offsetof(struct test_register_file, last[1]) == 0x48, "an element");

struct test_bit_fields {
	uint32_t low : 20;
	uint32_t across : 20; /* does not fit the first unit */
	uint32_t : 0;
	uint8_t : 3;
	uint8_t three : 3;
};
SPDK_STATIC_ASSERT(sizeof(struct test_bit_fields) == 12, "storage units");

struct test_with_tail {
	uint16_t count;
	enum test_narrow kind;
	uint32_t tail[];
};
SPDK_STATIC_ASSERT(sizeof(struct test_with_tail) == 8, "a flexible array takes no room");

struct test_packed_by_attribute {
	uint8_t byte;
	uint64_t wide;
} __attribute__((packed));
SPDK_STATIC_ASSERT(sizeof(struct test_packed_by_attribute) == 9, "no padding");

typedef void (*test_callback)(void *context, const struct spdk_nvme_cpl *completion);

struct test_pointers {
	test_callback done;
	const char *name;
	double weight;
	_Bool ready;
};

static inline uint32_t
test_dwords(uint32_t bytes)
{
	return (bytes >> 2) - 1;
}

/* No C parser without GNU extensions reads this; nothing below depends on it. */
extern __typeof__(test_dwords(4)) test_foreign __attribute__((aligned(64)));

/* -- Submission ---------------------------------------------------------------------- */

#pragma pack(push, 1)
struct spdk_nvme_sgl_descriptor {
	uint64_t address;
	union {
		struct {
			uint8_t reserved[7];
			uint8_t subtype : 4;
			uint8_t type : 4;
		} generic;

		struct {
			uint32_t length;
			uint8_t reserved[3];
			uint8_t subtype : 4;
			uint8_t type : 4;
		} unkeyed;

		struct {
			uint64_t length : 24;
			uint64_t key : 32; /* across a byte boundary, in one 64-bit unit */
			uint64_t subtype : 4;
			uint64_t type : 4;
		} keyed;
	};
};
SPDK_STATIC_ASSERT(sizeof(struct spdk_nvme_sgl_descriptor) == 16, "two quadwords");
#pragma pack(pop)

/* Of these four unions only what concerns key-value commands is taken. */
union spdk_nvme_cmd_cdw10 {
	uint32_t raw;
	struct {
		uint32_t cns : 8;
		uint32_t reserved : 8;
		uint32_t cntid : 16;
	} identify;
	struct {
		uint32_t vsize : 32; /* bytes of a value, or of the host's buffer */
	} kv;
};
SPDK_STATIC_ASSERT(sizeof(union spdk_nvme_cmd_cdw10) == 4, "a dword");

union spdk_nvme_cmd_cdw11 {
	uint32_t raw;
	struct {
		uint32_t nvmsetid : 16;
		uint32_t reserved : 8;
		uint32_t csi : 8;
	} identify;
	struct {
		uint32_t kl : 8; /* bytes of a key – ﬁrst the length, then options */
		uint32_t ro : 8;
		uint32_t reserved : 16;
	} kv;
};
SPDK_STATIC_ASSERT(sizeof(union spdk_nvme_cmd_cdw11) == 4, "a dword");

union spdk_nvme_cmd_cdw12 {
	uint32_t raw;
	struct {
		uint32_t nlb : 16;
		uint32_t rest : 16;
	} write;
};
SPDK_STATIC_ASSERT(sizeof(union spdk_nvme_cmd_cdw12) == 4, "a dword");

union spdk_nvme_cmd_cdw13 {
	uint32_t raw;
	struct {
		uint32_t dsm : 8;
		uint32_t reserved : 8;
		uint32_t dspec : 16;
	} write;
};
SPDK_STATIC_ASSERT(sizeof(union spdk_nvme_cmd_cdw13) == 4, "a dword");

struct spdk_nvme_cmd {
	uint16_t opc	:  8;
	uint16_t fuse	:  2;
	uint16_t rsvd1	:  4;
	uint16_t psdt	:  2;
	uint16_t cid;

	uint32_t nsid;

	uint32_t cdw2, cdw3;

	uint64_t mptr;

	union {
		struct {
			uint64_t prp1;
			uint64_t prp2;
		} prp;

		struct spdk_nvme_sgl_descriptor sgl1;
	} dptr;

	union {
		uint32_t cdw10;
		union spdk_nvme_cmd_cdw10 cdw10_bits;
	};
	union {
		uint32_t cdw11;
		union spdk_nvme_cmd_cdw11 cdw11_bits;
	};
	union {
		uint32_t cdw12;
		union spdk_nvme_cmd_cdw12 cdw12_bits;
	};
	union {
		uint32_t cdw13;
		union spdk_nvme_cmd_cdw13 cdw13_bits;
	};
	uint32_t cdw14;
	uint32_t cdw15;
};
SPDK_STATIC_ASSERT(sizeof(struct spdk_nvme_cmd) == 64, "a submission queue entry");

/* -- Completion ---------------------------------------------------------------------- */

struct spdk_nvme_status {
	uint16_t p : 1;
	uint16_t sc : 8;
	uint16_t sct : 3;
	uint16_t crd : 2;
	uint16_t m : 1;
	uint16_t dnr : 1;
};
SPDK_STATIC_ASSERT(sizeof(struct spdk_nvme_status) == 2, "a word");

struct spdk_nvme_cpl {
	uint32_t cdw0;
	uint32_t cdw1;
	uint16_t sqhd;
	uint16_t sqid;
	uint16_t cid;
	union {
		uint16_t status_raw;
		struct spdk_nvme_status status;
	};
};
SPDK_STATIC_ASSERT(sizeof(struct spdk_nvme_cpl) == 16, "a completion queue entry");

enum spdk_nvme_status_code_type {
	SPDK_NVME_SCT_GENERIC,
	SPDK_NVME_SCT_COMMAND_SPECIFIC,
	SPDK_NVME_SCT_MEDIA_ERROR,
	SPDK_NVME_SCT_PATH,
	SPDK_NVME_SCT_VENDOR_SPECIFIC = (1 << 3) - 1
};

/* SCT 0: answers that any command set may give. */
enum spdk_nvme_generic_command_status_code
{
	SPDK_NVME_SC_SUCCESS = 0x00,
	SPDK_NVME_SC_INVALID_OPCODE = 0x01,
	SPDK_NVME_SC_INVALID_FIELD = 0x02,
	SPDK_NVME_SC_COMMAND_ID_CONFLICT = 0x03,
	SPDK_NVME_SC_DATA_TRANSFER_ERROR = 0x04,
	SPDK_NVME_SC_ABORTED_POWER_LOSS = 0x05,
	SPDK_NVME_SC_INTERNAL_DEVICE_ERROR = 0x06,
	SPDK_NVME_SC_ABORTED_BY_REQUEST = 0x07,
	SPDK_NVME_SC_ABORTED_SQ_DELETION = 0x08,
	SPDK_NVME_SC_ABORTED_FAILED_FUSED = 0x09,
	SPDK_NVME_SC_ABORTED_MISSING_FUSED = 0x0a,
	SPDK_NVME_SC_INVALID_NAMESPACE_OR_FORMAT = 0x0b,
	SPDK_NVME_SC_COMMAND_SEQUENCE_ERROR = 0x0c,
	SPDK_NVME_SC_INVALID_SGL_SEG_DESCRIPTOR = 0x0d,
	SPDK_NVME_SC_INVALID_NUM_SGL_DESCIRPTORS = 0x0e,
	SPDK_NVME_SC_DATA_SGL_LENGTH_INVALID = 0x0f,
	SPDK_NVME_SC_METADATA_SGL_LENGTH_INVALID = 0x10,
	SPDK_NVME_SC_SGL_DESCRIPTOR_TYPE_INVALID = 0x11,
	SPDK_NVME_SC_INVALID_CONTROLLER_MEM_BUF = 0x12,
	SPDK_NVME_SC_INVALID_PRP_OFFSET = 0x13,
	SPDK_NVME_SC_ATOMIC_WRITE_UNIT_EXCEEDED = 0x14,
	SPDK_NVME_SC_OPERATION_DENIED = 0x15,
	SPDK_NVME_SC_INVALID_SGL_OFFSET = 0x16,
	/* 17h is free */
	SPDK_NVME_SC_HOSTID_INCONSISTENT_FORMAT = 0x18,
	SPDK_NVME_SC_KEEP_ALIVE_EXPIRED = 0x19,
	SPDK_NVME_SC_KEEP_ALIVE_INVALID = 0x1a,
	SPDK_NVME_SC_ABORTED_PREEMPT = 0x1b,
	SPDK_NVME_SC_SANITIZE_FAILED = 0x1c,
	SPDK_NVME_SC_SANITIZE_IN_PROGRESS = 0x1d,
	SPDK_NVME_SC_SGL_DATA_BLOCK_GRANULARITY_INVALID = 0x1e,
	SPDK_NVME_SC_COMMAND_INVALID_IN_CMB = 0x1f,
	SPDK_NVME_SC_COMMAND_NAMESPACE_IS_PROTECTED = 0x20,
	SPDK_NVME_SC_COMMAND_INTERRUPTED = 0x21,
	SPDK_NVME_SC_COMMAND_TRANSIENT_TRANSPORT_ERROR = 0x22,
	SPDK_NVME_SC_COMMAND_PROHIBITED_BY_LOCKDOWN = 0x23,
	SPDK_NVME_SC_ADMIN_COMMAND_MEDIA_NOT_READY = 0x24,
	SPDK_NVME_SC_FDP_DISABLED = 0x29,
	SPDK_NVME_SC_INVALID_PLACEMENT_HANDLE_LIST = 0x2a,
	/* 80h on: what depends on the I/O command set {not a body}; */
	SPDK_NVME_SC_LBA_OUT_OF_RANGE = 0x80,
	SPDK_NVME_SC_CAPACITY_EXCEEDED = 0x81,
	SPDK_NVME_SC_NAMESPACE_NOT_READY = 0x82,
	SPDK_NVME_SC_RESERVATION_CONFLICT = 0x83,
	SPDK_NVME_SC_FORMAT_IN_PROGRESS = 0x84,
	SPDK_NVME_SC_INVALID_VALUE_SIZE = 0x85,
	SPDK_NVME_SC_INVALID_KEY_SIZE = 0x86,
	SPDK_NVME_SC_KV_KEY_DOES_NOT_EXIST = 0x87,
	SPDK_NVME_SC_UNRECOVERED_ERROR = 0x88,
	SPDK_NVME_SC_KEY_EXISTS = 0x89,
};

/* SCT 1: one value may mean different things to different commands. */
enum spdk_nvme_command_specific_status_code
{
	SPDK_NVME_SC_COMPLETION_QUEUE_INVALID = 0x00,
	SPDK_NVME_SC_INVALID_QUEUE_IDENTIFIER = 0x01,
	SPDK_NVME_SC_INVALID_QUEUE_SIZE = 0x02,
	SPDK_NVME_SC_ABORT_COMMAND_LIMIT_EXCEEDED = 0x03,
	SPDK_NVME_SC_ASYNC_EVENT_REQUEST_LIMIT_EXCEEDED = 0x05,
	SPDK_NVME_SC_INVALID_FIRMWARE_SLOT = 0x06,
	SPDK_NVME_SC_INVALID_FIRMWARE_IMAGE = 0x07,
	SPDK_NVME_SC_INVALID_INTERRUPT_VECTOR = 0x08,
	SPDK_NVME_SC_INVALID_LOG_PAGE = 0x09,
	SPDK_NVME_SC_INVALID_FORMAT = 0x0a,
	SPDK_NVME_SC_FIRMWARE_REQ_CONVENTIONAL_RESET = 0x0b,
	SPDK_NVME_SC_INVALID_QUEUE_DELETION = 0x0c,
	SPDK_NVME_SC_FEATURE_ID_NOT_SAVEABLE = 0x0d,
	SPDK_NVME_SC_FEATURE_NOT_CHANGEABLE = 0x0e,
	SPDK_NVME_SC_FEATURE_NOT_NAMESPACE_SPECIFIC = 0x0f,
	SPDK_NVME_SC_FIRMWARE_REQ_NVM_RESET = 0x10,
	SPDK_NVME_SC_FIRMWARE_REQ_RESET = 0x11,
	SPDK_NVME_SC_FIRMWARE_REQ_MAX_TIME_VIOLATION = 0x12,
	SPDK_NVME_SC_FIRMWARE_ACTIVATION_PROHIBITED = 0x13,
	SPDK_NVME_SC_OVERLAPPING_RANGE = 0x14,
	SPDK_NVME_SC_NAMESPACE_INSUFFICIENT_CAPACITY = 0x15,
	SPDK_NVME_SC_NAMESPACE_ID_UNAVAILABLE = 0x16,
	SPDK_NVME_SC_NAMESPACE_ALREADY_ATTACHED = 0x18,
	SPDK_NVME_SC_NAMESPACE_IS_PRIVATE = 0x19,
	SPDK_NVME_SC_NAMESPACE_NOT_ATTACHED = 0x1a,
	SPDK_NVME_SC_THINPROVISIONING_NOT_SUPPORTED = 0x1b,
	SPDK_NVME_SC_CONTROLLER_LIST_INVALID = 0x1c,
	SPDK_NVME_SC_DEVICE_SELF_TEST_IN_PROGRESS = 0x1d,
	SPDK_NVME_SC_BOOT_PARTITION_WRITE_PROHIBITED = 0x1e,
	SPDK_NVME_SC_INVALID_CTRLR_ID = 0x1f,
	SPDK_NVME_SC_INVALID_SECONDARY_CTRLR_STATE = 0x20,
	SPDK_NVME_SC_INVALID_NUM_CTRLR_RESOURCES = 0x21,
	SPDK_NVME_SC_INVALID_RESOURCE_ID = 0x22,
	SPDK_NVME_SC_SANITIZE_PROHIBITED = 0x23,
	SPDK_NVME_SC_ANA_GROUP_IDENTIFIER_INVALID = 0x24,
	SPDK_NVME_SC_ANA_ATTACH_FAILED = 0x25,
	SPDK_NVME_SC_INSUFFICIENT_CAPACITY = 0x26,
	SPDK_NVME_SC_NAMESPACE_ATTACH_LIMIT_EXCEEDED = 0x27,
	SPDK_NVME_SC_PROHIBIT_CMD_EXEC_NOT_SUPPORTED = 0x28,
	SPDK_NVME_SC_IOCS_NOT_SUPPORTED = 0x29,
	SPDK_NVME_SC_IOCS_NOT_ENABLED = 0x2a,
	SPDK_NVME_SC_IOCS_COMBINATION_REJECTED = 0x2b,
	SPDK_NVME_SC_INVALID_IOCS = 0x2c,
	SPDK_NVME_SC_IDENTIFIER_UNAVAILABLE = 0x2d,
	SPDK_NVME_SC_STREAM_RESOURCE_ALLOCATION_FAILED = 0x7f,
	SPDK_NVME_SC_CONFLICTING_ATTRIBUTES = 0x80,
	SPDK_NVME_SC_INVALID_PROTECTION_INFO = 0x81,
	SPDK_NVME_SC_ATTEMPTED_WRITE_TO_RO_RANGE = 0x82,
	SPDK_NVME_SC_CMD_SIZE_LIMIT_SIZE_EXCEEDED = 0x83,
	SPDK_NVME_SC_ZONED_BOUNDARY_ERROR = 0xb8,
	SPDK_NVME_SC_ZONE_IS_FULL = 0xb9,
	SPDK_NVME_SC_ZONE_IS_READ_ONLY = 0xba,
	SPDK_NVME_SC_ZONE_IS_OFFLINE = 0xbb,
	SPDK_NVME_SC_ZONE_INVALID_WRITE = 0xbc,
	SPDK_NVME_SC_TOO_MANY_ACTIVE_ZONES = 0xbd,
	SPDK_NVME_SC_TOO_MANY_OPEN_ZONES = 0xbe,
	SPDK_NVME_SC_INVALID_ZONE_STATE_TRANSITION = 0xbf,
};

/* -- Key-value commands -------------------------------------------------------------- */

enum spdk_nvme_csi {
	SPDK_NVME_CSI_NVM = 0,
	SPDK_NVME_CSI_KV = 1,
	SPDK_NVME_CSI_ZNS = 2,
};

enum spdk_nvme_kv_opcode
{
	SPDK_NVME_OPC_KV_STORE = 0x01,
	SPDK_NVME_OPC_KV_RETRIEVE = 0x02,	/* a comment with a brace { and a semicolon; */
	SPDK_NVME_OPC_KV_LIST = 0x06,
	SPDK_NVME_OPC_KV_DELETE = 0x10,
	SPDK_NVME_OPC_KV_EXIST = 0x14,		// a comment to the end of the line
};

enum spdk_nvme_kv_store_option {
	SPDK_NVME_KV_STORE_OPT_DONT_STORE_IF_KEY_NOT_EXISTS = 1 << 0,
	SPDK_NVME_KV_STORE_OPT_DONT_STORE_IF_KEY_EXISTS = 1 << 1,
	SPDK_NVME_KV_STORE_OPT_DONT_COMPRESS = 1 << 2,
};

enum spdk_nvme_kv_retrieve_option {
	SPDK_NVME_KV_RETRIEVE_OPT_RETRIEVE_RAW = 1 << 0,
};

/* -- Identify ------------------------------------------------------------------------ */

#define SPDK_NVME_IDENTIFY_BUFLEN 4096
#define SPDK_NVME_KV_SPEC_VER SPDK_NVME_VERSION(1, 3, 0)

struct spdk_nvme_kv_ctrlr_data {
	uint32_t ver;
	uint8_t reserved1[SPDK_NVME_IDENTIFY_BUFLEN - sizeof(uint32_t)];
};
SPDK_STATIC_ASSERT(sizeof(struct spdk_nvme_kv_ctrlr_data) == SPDK_NVME_IDENTIFY_BUFLEN, "a page");

struct spdk_nvme_rescap {
	uint8_t ptpls : 1;
	uint8_t wes : 1;
	uint8_t eas : 1;
	uint8_t weros : 1;
	uint8_t earos : 1;
	uint8_t wears : 1;
	uint8_t eaars : 1;
	uint8_t ieks : 1;
};
SPDK_STATIC_ASSERT(sizeof(struct spdk_nvme_rescap) == 1, "a byte");

struct spdk_nvme_fpi {
	uint8_t rfnvm : 7;
	uint8_t fpis : 1;
};
SPDK_STATIC_ASSERT(sizeof(struct spdk_nvme_fpi) == 1, "a byte");

struct spdk_nvme_nmic {
	uint8_t shrns : 1;
	uint8_t disns : 1;
	uint8_t rsvd : 6;
};
SPDK_STATIC_ASSERT(sizeof(struct spdk_nvme_nmic) == 1, "a byte");

struct spdk_nvme_nsattr {
	uint8_t cwp : 1;
	uint8_t rsvd : 7;
};
SPDK_STATIC_ASSERT(sizeof(struct spdk_nvme_nsattr) == 1, "a byte");

struct spdk_nvme_kv_afo {
	uint8_t rp : 2;
	uint8_t reserved : 6;
};
SPDK_STATIC_ASSERT(sizeof(struct spdk_nvme_kv_afo) == 1, "a byte");

struct spdk_nvme_kv_kvfc {
	uint8_t kvfi : 4;
	uint8_t reserved : 4;
};
SPDK_STATIC_ASSERT(sizeof(struct spdk_nvme_kv_kvfc) == 1, "a byte");

struct spdk_nvme_kv_format {
	uint16_t kvkml;
	uint8_t reserved2;
	struct spdk_nvme_kv_afo afo;
	uint32_t kvvml;
	uint32_t mnks;
	uint8_t reserved12[4];
};
SPDK_STATIC_ASSERT(sizeof(struct spdk_nvme_kv_format) == 16, "a format");

struct spdk_nvme_kv_ns_data {
	uint64_t nsze;
	uint8_t reserved8[8];
	uint64_t nuse;
	uint8_t nsfeat;
	uint8_t nkvf;
	struct spdk_nvme_nmic nmic;
	struct spdk_nvme_rescap rescap;
	struct spdk_nvme_fpi fpi;
	struct spdk_nvme_kv_kvfc kvfc;
	uint8_t reserved30[2];
	uint32_t novg;
	uint32_t anagrpid;
	uint8_t reserved40[3];
	struct spdk_nvme_nsattr nsattr;
	uint16_t nvmsetid;
	uint16_t endgid;
	uint8_t nguid[16];
	uint64_t eui64;
	struct spdk_nvme_kv_format kvf[16];
	uint8_t reserved328[3512];
	uint8_t vendor_specific[256];
};
SPDK_STATIC_ASSERT(sizeof(struct spdk_nvme_kv_ns_data) == 4096, "a page");

#ifdef __cplusplus
}
#endif

#endif /* SPDK_NVME_SPEC_H */
