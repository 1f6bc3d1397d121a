// Copied by `xiokv-gen build` from the static templates of xiokv; do not edit.
// clang-format off
// SPDX-License-Identifier: MIT
/// @file
/// @brief Queue entries, keys, limits and error codes that all of xiokv shares.
#pragma once

#include <stdint.h>

#include "xiokv/kv_macros.h"

/// @brief Bytes that the key field of a queue entry holds.
#define XIOKV_KEY_BYTES 16

/// @brief Submission queue entry as 16 dwords.
///
/// Aligned to its size, as every slot of a submission queue is, so that a
/// compiler copies it with four 16-byte stores.
struct XIOKV_ALIGNAS(64) xiokv_sqe {
  uint32_t dw[16]; ///< Dwords 0..15, in memory order.
};
XIOKV_STATIC_ASSERT(sizeof(struct xiokv_sqe) == 64, "an SQE has 64 bytes");

/// @brief Completion queue entry as 4 dwords, read with one 16-byte load.
struct XIOKV_ALIGNAS(16) xiokv_cqe {
  uint32_t dw[4]; ///< Dwords 0..3, in memory order.
};
XIOKV_STATIC_ASSERT(sizeof(struct xiokv_cqe) == 16, "a CQE has 16 bytes");

/// @brief Packed key: five words, the flat byte image and then the length.
///
/// Encoders that check a request ignore what lies past the length; the raw ones
/// need zeros there, as xiokv_key_set and xiokv_key_trim leave it.
struct xiokv_key {
  union {
    uint8_t bytes[XIOKV_KEY_BYTES];      ///< Key, first byte first.
    uint32_t words[XIOKV_KEY_BYTES / 4]; ///< The same as dwords.
  };
  uint32_t length; ///< Bytes of the key, 0..16.
};
XIOKV_STATIC_ASSERT(sizeof(struct xiokv_key) == 20, "a key has five words");

/// @brief Raw values for the dwords that a command leaves reserved.
///
/// An encoder takes only the bits of the reserved places and drops all others.
struct xiokv_reserved {
  uint32_t cdw11; ///< Dword 11; bits [31:16] count.
  uint32_t cdw12; ///< Dword 12.
  uint32_t cdw13; ///< Dword 13.
};

/// @brief What one namespace accepts.
struct xiokv_limits {
  uint32_t key_max;      ///< Longest key, bytes.
  uint64_t value_max;    ///< Largest value, bytes.
  uint64_t transfer_max; ///< Largest transfer (MDTS), bytes; 0: any.
};

/// @brief What one command accepts.
struct xiokv_rules {
  uint32_t key_min;     ///< Shortest key, bytes.
  uint32_t key_max;     ///< Longest key, bytes.
  uint32_t options;     ///< Mask of its request options.
  uint32_t has_size;    ///< 1 where it carries a size, else 0.
  uint32_t sends_value; ///< 1 where that size is a value's.
};

/// @brief Completion queue entry, taken apart.
struct xiokv_completion {
  uint32_t dw0;  ///< Command-specific; Retrieve: full size, bytes.
  uint16_t sqhd; ///< Submission queue head pointer.
  uint16_t sqid; ///< Submission queue identifier.
  uint16_t cid;  ///< Command identifier.
  uint8_t phase; ///< Phase tag.
  uint8_t sct;   ///< Status code type.
  uint8_t sc;    ///< Status code.
  uint8_t crd;   ///< Command retry delay index.
  uint8_t more;  ///< More: the error log has an entry.
  uint8_t dnr;   ///< Do not retry.
};

/// @brief Why a call refused its input; all but XIOKV_E_OK are negative.
enum xiokv_error {
  /// @brief No error.
  XIOKV_E_OK = 0,
  /// @brief The opcode is not one of the commands built in.
  XIOKV_E_OPCODE = -1,
  /// @brief NSID 0 or FFFFFFFFh, which no KV command supports.
  XIOKV_E_NSID = -2,
  /// @brief The key is shorter or longer than the command or limits allow.
  XIOKV_E_KEY_LENGTH = -3,
  /// @brief The size is above the limits, or the command carries none.
  XIOKV_E_VALUE_SIZE = -4,
  /// @brief An option that this command does not have.
  XIOKV_E_OPTIONS = -5,
  /// @brief A semantic value is too wide for its bits.
  XIOKV_E_SEMANTIC = -6,
  /// @brief A List page ends early or counts more keys than it has.
  XIOKV_E_LIST_PAGE = -7,
  /// @brief Identify data names an active format that it does not describe.
  XIOKV_E_FORMAT = -8
};
