// SPDX-License-Identifier: MIT
/// @file
/// @brief The data of the vendor command Exec: a 16-bit key length, the key,
/// the input. The output comes back into the same buffer, from its first byte
/// on.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "xiokv/kv_commands.h"

/// @brief Bytes of the key length that a payload begins with.
#define XIOKV_EXEC_PREFIX_BYTES 2u

/// @brief Bytes of a payload.
/// @param key_length Bytes of the key.
/// @param input_length Bytes of the input.
/// @return The length of key length, key and input.
XIOKV_HD static inline uint32_t
xiokv_exec_payload_bytes(uint32_t key_length, uint32_t input_length) {
  return XIOKV_EXEC_PREFIX_BYTES + key_length + input_length;
}

/// @brief Bytes of the buffer that payload and output share.
/// @param payload_bytes Bytes of the payload.
/// @param output_size Bytes that the output may have.
/// @return The larger of both, which the data pointer has to cover.
XIOKV_HD static inline uint32_t
xiokv_exec_transfer_bytes(uint32_t payload_bytes, uint32_t output_size) {
  return payload_bytes > output_size ? payload_bytes : output_size;
}

/// @brief Check a request before it is packed and encoded.
/// @param limits What the namespace accepts; null: what the command does. Only
/// the largest transfer counts: the key lies in the data.
/// @param nsid Namespace.
/// @param key_length Bytes of the key, not narrowed by the caller.
/// @param input_length Bytes of the input, not narrowed.
/// @param output_size Bytes that the output may have, not narrowed.
/// @return XIOKV_E_OK or the first error found.
XIOKV_HD static inline int xiokv_check_exec(const struct xiokv_limits *limits,
                                            uint32_t nsid, size_t key_length,
                                            uint64_t input_length,
                                            uint64_t output_size) {
  uint64_t most = UINT32_MAX;

  if (limits && limits->transfer_max && limits->transfer_max < most)
    most = limits->transfer_max;
  if (nsid == 0u || nsid == UINT32_MAX)
    return XIOKV_E_NSID;
  if (key_length < XIOKV_EXEC_KEY_MIN_LEN ||
      key_length > XIOKV_EXEC_KEY_MAX_LEN)
    return XIOKV_E_KEY_LENGTH;
  if (input_length > most || output_size > most ||
      XIOKV_EXEC_PREFIX_BYTES + key_length + input_length > most)
    return XIOKV_E_VALUE_SIZE;
  return XIOKV_E_OK;
}

/// @brief Write a payload: key length, key and input.
/// @param buffer Where it goes; untouched when refused.
/// @param size Bytes of the buffer.
/// @param key The key; any bytes, NUL included.
/// @param key_length Bytes of the key, 1..255.
/// @param input The input; may be null at length 0.
/// @param input_length Bytes of the input.
/// @return XIOKV_E_OK, XIOKV_E_KEY_LENGTH, or XIOKV_E_VALUE_SIZE where the
/// payload does not fit the buffer or its length 32 bits.
XIOKV_HD static inline int xiokv_exec_pack(void *buffer, size_t size,
                                           const void *key, size_t key_length,
                                           const void *input,
                                           size_t input_length) {
  uint8_t *bytes = (uint8_t *)buffer;
  const size_t before = XIOKV_EXEC_PREFIX_BYTES + key_length;

  if (key_length < XIOKV_EXEC_KEY_MIN_LEN ||
      key_length > XIOKV_EXEC_KEY_MAX_LEN)
    return XIOKV_E_KEY_LENGTH;
  if (size < before || size - before < input_length ||
      input_length > UINT32_MAX - before)
    return XIOKV_E_VALUE_SIZE;
  bytes[0] = (uint8_t)key_length;
  bytes[1] = 0u; /* a key has at most 255 bytes */
  __builtin_memcpy(bytes + XIOKV_EXEC_PREFIX_BYTES, key, key_length);
  if (input_length)
    __builtin_memcpy(bytes + before, input, input_length);
  return XIOKV_E_OK;
}
