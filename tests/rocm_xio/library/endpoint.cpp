#include "endpoint.h"

struct nvme_sqe endpoint_retrieve(const uint32_t key[4], uint32_t key_len) {
  struct nvme_sqe sqe = {};
  sqe.opcode = nvme_kv_cmd_retrieve;
  kvSqeSetup(&sqe, key, key_len, 4096);
  return sqe;
}
