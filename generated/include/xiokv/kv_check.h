// Copied by `xiokv-gen build` from the static templates of xiokv; do not edit.
// clang-format off
// SPDX-License-Identifier: MIT
/// @file
/// @brief Keys, limits and the check of a request before it is encoded.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "xiokv/kv_bits.h"
#include "xiokv/kv_types.h"
#include "xiokv/nvme_kv.h"

XIOKV_STATIC_ASSERT(XIOKV_KEY_MAX_LEN == XIOKV_KEY_BYTES,
                    "a packed key holds the longest key, and no more");
XIOKV_STATIC_ASSERT(sizeof(struct xiokv_sqe) == sizeof(struct xiokv_cmd) &&
                        sizeof(struct xiokv_cqe) == sizeof(struct xiokv_cpl),
                    "both views of a queue entry have the same size");

/// @brief Pack a key; all bytes past its length become zero.
/// @param key Where the packed key goes; untouched when refused.
/// @param bytes The key; any bytes, NUL included. May be null at length 0.
/// @param length Bytes of the key, 0..16.
/// @return XIOKV_E_OK or XIOKV_E_KEY_LENGTH.
XIOKV_HD static inline int xiokv_key_set(struct xiokv_key *key,
                                         const void *bytes, size_t length) {
  unsigned i;

  if (length > XIOKV_KEY_BYTES)
    return XIOKV_E_KEY_LENGTH;
  for (i = 0; i < XIOKV_KEY_BYTES / 4u; i++)
    key->words[i] = 0u;
  if (length)
    __builtin_memcpy(key->bytes, bytes, length);
  key->length = (uint32_t)length;
  return XIOKV_E_OK;
}

/// @brief A key with all bytes past its length zeroed.
/// @param key The packed key, whatever lies past its length.
/// @return The key.
XIOKV_HD static inline struct xiokv_key
xiokv_key_trim(const struct xiokv_key *key) {
  struct xiokv_key trimmed = *key;
  unsigned i;

  if (key->length >= XIOKV_KEY_BYTES)
    return trimmed;
  for (i = 0; i < XIOKV_KEY_BYTES / 4u; i++) {
    const uint32_t before = 4u * i;
    const uint32_t left = key->length > before ? key->length - before : 0u;

    trimmed.words[i] = xiokv_bits_low_bytes(trimmed.words[i], left);
  }
  return trimmed;
}

/// @brief Limits of a namespace, from its Identify data.
///
/// They are those of the active format, which need not be format 0, and the
/// longest key is never above what a queue entry holds.
/// @param limits Where the limits go; untouched when refused.
/// @param ns Identify Namespace data of the Key-Value command set.
/// @param transfer_max Largest transfer of the controller, bytes; 0: any.
/// @return XIOKV_E_OK or XIOKV_E_FORMAT.
XIOKV_HD static inline int xiokv_limits_set(struct xiokv_limits *limits,
                                            const struct xiokv_ns_data *ns,
                                            uint64_t transfer_max) {
  const unsigned active = ns->kvfc.kvfi;
  const uint32_t key_max = ns->kvf[active].kvkml;

  if (active > ns->nkvf || key_max < XIOKV_KEY_MIN_LEN)
    return XIOKV_E_FORMAT;
  limits->key_max = key_max < XIOKV_KEY_BYTES ? key_max : XIOKV_KEY_BYTES;
  limits->value_max = ns->kvf[active].kvvml;
  limits->transfer_max = transfer_max;
  return XIOKV_E_OK;
}

/// @brief Check a key's length.
/// @param rules What the command accepts.
/// @param limits What the namespace accepts; null: what the command set does.
/// @param length Bytes of the key, not narrowed by the caller.
/// @return XIOKV_E_OK or XIOKV_E_KEY_LENGTH.
XIOKV_HD static inline int
xiokv_check_key_length(const struct xiokv_rules *rules,
                       const struct xiokv_limits *limits, size_t length) {
  if (length < rules->key_min || length > rules->key_max)
    return XIOKV_E_KEY_LENGTH;
  if (limits && length > limits->key_max)
    return XIOKV_E_KEY_LENGTH;
  return XIOKV_E_OK;
}

/// @brief Check a value's or a buffer's size.
/// @param rules What the command accepts.
/// @param limits What the namespace accepts; null: what the command set does.
/// @param size Size in bytes, not narrowed by the caller.
/// @return XIOKV_E_OK or XIOKV_E_VALUE_SIZE.
XIOKV_HD static inline int xiokv_check_size(const struct xiokv_rules *rules,
                                            const struct xiokv_limits *limits,
                                            uint64_t size) {
  if (size > (rules->has_size ? UINT32_MAX : 0u))
    return XIOKV_E_VALUE_SIZE;
  if (!limits)
    return XIOKV_E_OK;
  if (rules->sends_value && size > limits->value_max)
    return XIOKV_E_VALUE_SIZE;
  if (limits->transfer_max && size > limits->transfer_max)
    return XIOKV_E_VALUE_SIZE;
  return XIOKV_E_OK;
}

/// @brief Check a request against its command's rules.
/// @param rules What the command accepts.
/// @param limits What the namespace accepts; null: what the command set does.
/// @param nsid Namespace.
/// @param key_length Bytes of the key, not narrowed by the caller.
/// @param size Size of the value or buffer in bytes, not narrowed.
/// @param options Request options, 0 for none.
/// @return XIOKV_E_OK or the first error found.
XIOKV_HD static inline int xiokv_check_rules(const struct xiokv_rules *rules,
                                             const struct xiokv_limits *limits,
                                             uint32_t nsid, size_t key_length,
                                             uint64_t size, uint32_t options) {
  int error;

  if (nsid == 0u || nsid == UINT32_MAX)
    return XIOKV_E_NSID;
  error = xiokv_check_key_length(rules, limits, key_length);
  if (error)
    return error;
  error = xiokv_check_size(rules, limits, size);
  if (error)
    return error;
  return options & ~rules->options ? XIOKV_E_OPTIONS : XIOKV_E_OK;
}
