// Every name that the two headers offer, with the value that the command set gives it.
#include "nvme-kv.h"
#include "spdk-nvme-kv.h"

static_assert(nvme_kv_cmd_store == 0x01);
static_assert(nvme_kv_cmd_retrieve == 0x02);
static_assert(nvme_kv_cmd_list == 0x06);
static_assert(nvme_kv_cmd_delete == 0x10);
static_assert(nvme_kv_cmd_exist == 0x14);
static_assert(nvme_kv_cmd_exec == 0x83);

static_assert(NVME_KV_KEY_MAX_LEN == 16);
static_assert(NVME_KV_EXEC_KEY_MAX_LEN == 255);
static_assert(NVME_KV_PACKED_WORDS_PER_KEY == 5);

static_assert(NVME_KV_SC_INVALID_VALUE_SIZE == 0x85);
static_assert(NVME_KV_SC_INVALID_KEY_SIZE == 0x86);
static_assert(NVME_KV_SC_KEY_DOES_NOT_EXIST == 0x87);
static_assert(NVME_KV_SC_KEY_EXISTS == 0x89);

static_assert(SPDK_NVME_OPC_KV_STORE == 0x01);
static_assert(SPDK_NVME_OPC_KV_RETRIEVE == 0x02);
static_assert(SPDK_NVME_OPC_KV_LIST == 0x06);
static_assert(SPDK_NVME_OPC_KV_DELETE == 0x10);
static_assert(SPDK_NVME_OPC_KV_EXIST == 0x14);

static_assert(SPDK_NVME_SC_SUCCESS == 0x00);
static_assert(SPDK_NVME_SC_CAPACITY_EXCEEDED == 0x81);
static_assert(SPDK_NVME_SC_INVALID_VALUE_SIZE == 0x85);
static_assert(SPDK_NVME_SC_INVALID_KEY_SIZE == 0x86);
static_assert(SPDK_NVME_SC_KV_KEY_DOES_NOT_EXIST == 0x87);
static_assert(SPDK_NVME_SC_UNRECOVERED_ERROR == 0x88);
static_assert(SPDK_NVME_SC_KEY_EXISTS == 0x89);

enum spdk_nvme_kv_opcode opcode = SPDK_NVME_OPC_KV_LIST;

// As a library that drives the entry uses them.
bool moves_data(const struct nvme_sqe &sqe);
bool moves_data(const struct nvme_sqe &sqe) {
  switch (sqe.opcode) {
  case nvme_kv_cmd_store:
  case nvme_kv_cmd_retrieve:
  case nvme_kv_cmd_list:
  case nvme_kv_cmd_exec:
    return true;
  default:
    return false;
  }
}
