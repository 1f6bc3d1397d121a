// SPDX-License-Identifier: MIT
/// @file
/// @brief Exports an encoder of a profile with two fields: `model` in CDW11 and
/// `limits`, whose name is also that of a parameter, in CDW12.
#include "xiokv/kv_commands.h"

int shim_retrieve(struct xiokv_sqe *out, uint64_t model, uint64_t level) {
  return xiokv_encode_retrieve(out, NULL, 1, "abcd", 4, 4096, 1, model, level);
}

int shim_delete(struct xiokv_sqe *out) {
  return xiokv_encode_delete(out, NULL, 1, "abcd", 4);
}
