// SPDX-License-Identifier: MIT
/// @file
/// @brief Exports an encoder of a profile with three fields: `model` and `hint`
/// in CDW11, and `limits`, whose name is also that of a parameter, in CDW12.
#include "xiokv/kv_commands.h"

int shim_retrieve(struct xiokv_sqe *out, uint64_t model, uint64_t level,
                  uint64_t hint) {
  return xiokv_encode_retrieve(out, NULL, 1, "abcd", 4, 4096, 1, model, level,
                               hint);
}

int shim_delete(struct xiokv_sqe *out) {
  return xiokv_encode_delete(out, NULL, 1, "abcd", 4);
}

uint32_t shim_get_model(const struct xiokv_sqe *sqe) {
  return xiokv_get_model(sqe);
}

uint32_t shim_get_limits(const struct xiokv_sqe *sqe) {
  return xiokv_get_limits(sqe);
}

uint32_t shim_get_hint(const struct xiokv_sqe *sqe) {
  return xiokv_get_hint(sqe);
}

/// @brief Encode by the raw form, with the fields placed by name.
int shim_raw(struct xiokv_sqe *out, uint64_t model, uint64_t level,
             uint64_t hint) {
  struct xiokv_reserved reserved = {1u, 0u, 7u};
  struct xiokv_key key;
  int error = xiokv_key_set(&key, "abcd", 4);

  if (!error)
    error = xiokv_set_model(&reserved, model);
  if (!error)
    error = xiokv_set_limits(&reserved, level);
  if (!error)
    error = xiokv_set_hint(&reserved, hint);
  if (!error)
    *out = xiokv_encode_retrieve_raw(1, &key, 4096, 1, &reserved);
  return error;
}
