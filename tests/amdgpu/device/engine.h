// SPDX-License-Identifier: MIT
/// @file
/// @brief Parts of the engine, as functions from any eight numbers to eight
/// others, and to pages of memory.
#pragma once

#include <stdint.h>

#include "xiokv/kv_commands.h"
#include "xiokv/kv_list.h"
#include "xiokv/kv_prp.h"
#include "xiokv/kv_slots.h"
#include "xiokv/kv_status.h"

struct Numbers {
  uint64_t word[8];
};
static_assert(sizeof(Numbers) == sizeof(xiokv_sqe), "an entry fits");

/// @brief What a call may write: PRP list pages.
constexpr uint32_t area_bytes = 2 * XIOKV_PAGE_BYTES;

#define ENGINE_FUNCTION(name)                                                  \
  XIOKV_DEVICE Numbers name(const Numbers &from, [[maybe_unused]] uint8_t *area)

XIOKV_DEVICE uint32_t low(uint64_t word) { return static_cast<uint32_t>(word); }
XIOKV_DEVICE uint32_t high(uint64_t word) {
  return static_cast<uint32_t>(word >> 32);
}

XIOKV_DEVICE xiokv_key key_of(const Numbers &from) {
  xiokv_key key;
  for (uint32_t i = 0; i < 4; ++i)
    key.words[i] = low(from.word[i / 2] >> 32 * (i % 2));
  key.length = low(from.word[2]) % 18; // One more than is allowed.
  return key;
}

XIOKV_DEVICE xiokv_reserved reserved_of(const Numbers &from) {
  return xiokv_reserved{low(from.word[3]), high(from.word[3]),
                        low(from.word[4])};
}

XIOKV_DEVICE Numbers entry(const xiokv_sqe &sqe) {
  Numbers result;
  for (uint32_t i = 0; i < 8; ++i)
    result.word[i] = sqe.dw[2 * i] | static_cast<uint64_t>(sqe.dw[2 * i + 1])
                                         << 32;
  return result;
}

ENGINE_FUNCTION(encode_store) {
  const xiokv_key key = key_of(from);
  const xiokv_reserved reserved = reserved_of(from);
  return entry(xiokv_encode_store_raw(high(from.word[4]), &key,
                                      low(from.word[5]), high(from.word[5]),
                                      &reserved));
}
ENGINE_FUNCTION(encode_retrieve) {
  const xiokv_key key = key_of(from);
  const xiokv_reserved reserved = reserved_of(from);
  return entry(xiokv_encode_retrieve_raw(high(from.word[4]), &key,
                                         low(from.word[5]), high(from.word[5]),
                                         &reserved));
}
ENGINE_FUNCTION(encode_list) {
  const xiokv_key key = key_of(from);
  const xiokv_reserved reserved = reserved_of(from);
  return entry(xiokv_encode_list_raw(high(from.word[4]), &key,
                                     low(from.word[5]), &reserved));
}
ENGINE_FUNCTION(encode_delete) {
  const xiokv_key key = key_of(from);
  const xiokv_reserved reserved = reserved_of(from);
  return entry(xiokv_encode_delete_raw(high(from.word[4]), &key, &reserved));
}
ENGINE_FUNCTION(encode_exist) {
  const xiokv_key key = key_of(from);
  const xiokv_reserved reserved = reserved_of(from);
  return entry(xiokv_encode_exist_raw(high(from.word[4]), &key, &reserved));
}

/// @brief The encoder of a request, with its checks.
ENGINE_FUNCTION(encode_checked) {
  const xiokv_key key = key_of(from);
  xiokv_limits limits = {};
  limits.key_max = low(from.word[6]) % 20;
  limits.value_max = high(from.word[6]) >> from.word[7] % 32;
  xiokv_sqe sqe = {};
  const int answer =
      xiokv_encode_store_packed(&sqe, &limits, high(from.word[4]), &key,
                                low(from.word[5]), high(from.word[5]) % 12);
  Numbers result = entry(sqe);
  result.word[7] ^= static_cast<uint64_t>(answer);
  return result;
}

/// @brief A walk over a List page: the numbers, and what they happen to say.
ENGINE_FUNCTION(walk_list) {
  Numbers page = from;
  page.word[0] = (page.word[0] & ~uint64_t(0xffff)) | low(from.word[7]) % 4;
  page.word[0] = (page.word[0] & ~(uint64_t(0xffff) << 32)) |
                 static_cast<uint64_t>(low(from.word[7]) % 18) << 32;
  page.word[0] &= ~uint64_t(0xffff0000);
  Numbers result = {};
  xiokv_list_page walk;
  xiokv_key key = {};
  result.word[0] = static_cast<uint64_t>(
      xiokv_list_begin(&walk, &page, low(from.word[6]) % 65));
  if (result.word[0] != XIOKV_E_OK)
    return result;
  for (uint32_t i = 0; i < 4; ++i) {
    const int answer = xiokv_list_next(&walk, &key);
    result.word[1 + i] = static_cast<uint64_t>(answer) << 40 ^ key.length ^
                         static_cast<uint64_t>(key.words[i % 4]) << 8;
  }
  return result;
}

ENGINE_FUNCTION(classify) {
  xiokv_completion completion = {};
  completion.dw0 = low(from.word[0]);
  completion.sct = low(from.word[1]) % 8;
  completion.sc = low(from.word[2]) % 256;
  Numbers result = {};
  result.word[0] =
      xiokv_classify(&completion, high(from.word[1]) % 16, high(from.word[0]));
  for (uint32_t sc = 0; sc < 256; ++sc)
    result.word[1 + sc % 4] = result.word[1 + sc % 4] * 5 +
                              xiokv_classify_status(high(from.word[2]) % 4, sc);
  return result;
}

ENGINE_FUNCTION(wrap) {
  const uint32_t size = low(from.word[0]) % 65536 + 1;
  Numbers result = {};
  result.word[0] = xiokv_wrap(low(from.word[1]) % size,
                              low(from.word[2]) % (size + 1), size);
  result.word[1] = xiokv_slot_bits(low(from.word[3]) % 65535 + 1);
  return result;
}

/// @brief A transfer of up to 600 pages at any offset, its list in the area.
ENGINE_FUNCTION(build_prp) {
  xiokv_queue queue = {};
  queue.prp_pool = reinterpret_cast<uint64_t>(area);
  queue.prp_iova = from.word[0] & ~uint64_t(XIOKV_PAGE_BYTES - 1);
  queue.prp_pages = 2;
  xiokv_batch batch = {};
  batch.iova = from.word[1];
  const xiokv_prp prp =
      xiokv_build_prp(queue, batch, 0, low(from.word[2]),
                      low(from.word[3]) % (600 * XIOKV_PAGE_BYTES));
  Numbers result = {};
  result.word[0] = prp.prp1;
  result.word[1] = prp.prp2;
  return result;
}

#define ENGINE_FUNCTIONS(X)                                                    \
  X(encode_store)                                                              \
  X(encode_retrieve)                                                           \
  X(encode_list)                                                               \
  X(encode_delete)                                                             \
  X(encode_exist)                                                              \
  X(encode_checked) X(walk_list) X(classify) X(wrap) X(build_prp)
