// SPDX-License-Identifier: MIT
/// @file
/// @brief Exports the inline functions of kv_commands.h, the encoders under one
/// signature, so that tests reach them through ctypes.
#include "xiokv/kv_commands.h"

int shim_encode(uint32_t opcode, struct xiokv_sqe *out,
                const struct xiokv_limits *limits, uint32_t nsid,
                const void *key, size_t key_length, uint64_t value_size,
                uint32_t options) {
  switch (opcode) {
  case 0x01:
    return xiokv_encode_store(out, limits, nsid, key, key_length, value_size,
                              options);
  case 0x02:
    return xiokv_encode_retrieve(out, limits, nsid, key, key_length, value_size,
                                 options);
  case 0x06:
    return xiokv_encode_list(out, limits, nsid, key, key_length, value_size);
  case 0x10:
    return xiokv_encode_delete(out, limits, nsid, key, key_length);
  default:
    return xiokv_encode_exist(out, limits, nsid, key, key_length);
  }
}

int shim_encode_packed(uint32_t opcode, struct xiokv_sqe *out,
                       const struct xiokv_limits *limits, uint32_t nsid,
                       const struct xiokv_key *key, uint64_t value_size,
                       uint32_t options) {
  switch (opcode) {
  case 0x01:
    return xiokv_encode_store_packed(out, limits, nsid, key, value_size,
                                     options);
  case 0x02:
    return xiokv_encode_retrieve_packed(out, limits, nsid, key, value_size,
                                        options);
  case 0x06:
    return xiokv_encode_list_packed(out, limits, nsid, key, value_size);
  case 0x10:
    return xiokv_encode_delete_packed(out, limits, nsid, key);
  default:
    return xiokv_encode_exist_packed(out, limits, nsid, key);
  }
}

void shim_encode_raw(uint32_t opcode, struct xiokv_sqe *out, uint32_t nsid,
                     const struct xiokv_key *key, uint32_t value_size,
                     uint32_t options, const struct xiokv_reserved *reserved) {
  switch (opcode) {
  case 0x01:
    *out = xiokv_encode_store_raw(nsid, key, value_size, options, reserved);
    break;
  case 0x02:
    *out = xiokv_encode_retrieve_raw(nsid, key, value_size, options, reserved);
    break;
  case 0x06:
    *out = xiokv_encode_list_raw(nsid, key, value_size, reserved);
    break;
  case 0x10:
    *out = xiokv_encode_delete_raw(nsid, key, reserved);
    break;
  default:
    *out = xiokv_encode_exist_raw(nsid, key, reserved);
  }
}

int shim_check(uint32_t opcode, const struct xiokv_limits *limits,
               uint32_t nsid, size_t key_length, uint64_t value_size,
               uint32_t options) {
  return xiokv_check_request(opcode, limits, nsid, key_length, value_size,
                             options);
}

void shim_submit(struct xiokv_sqe *sqe, uint16_t cid, uint64_t prp1,
                 uint64_t prp2) {
  xiokv_sqe_set_cid(sqe, cid);
  xiokv_sqe_set_prp(sqe, prp1, prp2);
}

int shim_limits(struct xiokv_limits *limits, const struct xiokv_ns_data *ns,
                uint64_t transfer_max) {
  return xiokv_limits_set(limits, ns, transfer_max);
}

void shim_decode(const struct xiokv_cqe *cqe, struct xiokv_completion *out) {
  xiokv_decode_completion(cqe, out);
}

int shim_classify(const struct xiokv_completion *completion, uint32_t opcode,
                  uint32_t buffer_size) {
  return (int)xiokv_classify(completion, opcode, buffer_size);
}

const char *shim_status_name(uint32_t sct, uint32_t sc) {
  return xiokv_status_name(sct, sc);
}

int shim_list_begin(struct xiokv_list_page *page, const void *data,
                    size_t size) {
  return xiokv_list_begin(page, data, size);
}

int shim_list_next(struct xiokv_list_page *page, struct xiokv_key *key) {
  return xiokv_list_next(page, key);
}
