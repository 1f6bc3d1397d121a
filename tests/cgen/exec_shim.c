// SPDX-License-Identifier: MIT
/// @file
/// @brief Exports the functions of kv_exec.h.
#include "xiokv/kv_exec.h"

int shim_encode(struct xiokv_sqe *out, const struct xiokv_limits *limits,
                uint32_t nsid, size_t key_length, uint64_t input_length,
                uint64_t output_size, uint32_t operation) {
  return xiokv_encode_exec(out, limits, nsid, key_length, input_length,
                           output_size, operation);
}

int shim_pack(void *buffer, size_t size, const void *key, size_t key_length,
              const void *input, size_t input_length) {
  return xiokv_exec_pack(buffer, size, key, key_length, input, input_length);
}

uint32_t shim_transfer(uint32_t key_length, uint32_t input_length,
                       uint32_t output_size) {
  return xiokv_exec_transfer_bytes(
      xiokv_exec_payload_bytes(key_length, input_length), output_size);
}
