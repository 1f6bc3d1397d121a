// The functions of nvme-kv.h, to be called on any 64 bytes.
#include "nvme-kv.h"

static struct nvme_sqe *entry_at(void *bytes) {
  return static_cast<struct nvme_sqe *>(bytes);
}

extern "C" void setup(void *entry, const uint32_t *key, uint32_t key_len,
                      uint32_t value_len) {
  kvSqeSetup(entry_at(entry), key, key_len, value_len);
}

extern "C" void setup_packed(void *entry, const uint32_t *packed_key,
                             uint32_t value_len) {
  kvSqeSetupPacked(entry_at(entry), packed_key, value_len);
}

extern "C" void setup_exec(void *entry, uint32_t payload_len, uint32_t osize,
                           uint32_t op_id) {
  kvExecSqeSetup(entry_at(entry), payload_len, osize, op_id);
}
