// The functions of nvme-kv.h in device code.
#include "nvme-kv.h"

extern "C" __global__ void encode_keys(struct nvme_sqe *entries,
                                       const uint32_t *keys,
                                       uint32_t value_len) {
  const uint32_t lane = __builtin_amdgcn_workitem_id_x();
  struct nvme_sqe sqe = {};

  sqe.opcode = nvme_kv_cmd_retrieve;
  kvSqeSetupPacked(&sqe, keys + lane * NVME_KV_PACKED_WORDS_PER_KEY, value_len);
  entries[lane] = sqe;
}

extern "C" __global__ void encode_exec(struct nvme_sqe *entry,
                                       uint32_t payload_len, uint32_t osize) {
  entry->opcode = nvme_kv_cmd_exec;
  kvExecSqeSetup(entry, payload_len, osize, 1);
}
