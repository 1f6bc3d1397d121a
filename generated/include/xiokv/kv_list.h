// Copied by `xiokv-gen build` from the static templates of xiokv; do not edit.
// clang-format off
// SPDX-License-Identifier: MIT
/// @file
/// @brief Walk the keys of a page that List returned, without reading past it.
///
/// A page is a dword that counts the keys and then, for each, a 16-bit length,
/// the key's bytes and zeros up to a multiple of 4 bytes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "xiokv/kv_check.h"

/// @brief Bytes of a page's count of keys.
#define XIOKV_LIST_HEADER_BYTES 4u

/// @brief Bytes of a key's length.
#define XIOKV_LIST_LENGTH_BYTES 2u

/// @brief Where a walk over a List page stands.
struct xiokv_list_page {
  const uint8_t *data; ///< The page.
  size_t size;         ///< Bytes of the page.
  size_t offset;       ///< Byte at which the next entry begins.
  uint32_t remaining;  ///< Keys still to come.
};

/// @brief Read bytes as a little-endian number.
/// @param data First byte; need not be aligned.
/// @param count Bytes, 1..4.
/// @return The number.
XIOKV_HD static inline uint32_t xiokv_load_bytes(const uint8_t *data,
                                                 unsigned count) {
  uint32_t word = 0;
  unsigned i;

  for (i = 0; i < count; i++)
    word = xiokv_bits_set(word, data[i], 8u * i + 7u, 8u * i);
  return word;
}

/// @brief Begin a walk.
/// @param page The walk.
/// @param data The page; it must outlive the walk.
/// @param size Bytes of the page.
/// @return XIOKV_E_OK or XIOKV_E_LIST_PAGE.
XIOKV_HD static inline int xiokv_list_begin(struct xiokv_list_page *page,
                                            const void *data, size_t size) {
  if (size < XIOKV_LIST_HEADER_BYTES)
    return XIOKV_E_LIST_PAGE;
  page->data = (const uint8_t *)data;
  page->size = size;
  page->offset = XIOKV_LIST_HEADER_BYTES;
  page->remaining = xiokv_load_bytes(page->data, XIOKV_LIST_HEADER_BYTES);
  return XIOKV_E_OK;
}

/// @brief Take the next key.
///
/// After an error the walk stays where it is: every later call repeats it.
/// @param page The walk.
/// @param key Where the key goes; untouched unless 1 is returned.
/// @return 1 for a key, 0 at the end, XIOKV_E_LIST_PAGE where the page ends
/// early, XIOKV_E_KEY_LENGTH where a key is empty or longer than 16 bytes.
XIOKV_HD static inline int xiokv_list_next(struct xiokv_list_page *page,
                                           struct xiokv_key *key) {
  const size_t left = page->size - page->offset;
  const uint8_t *entry = page->data + page->offset;
  uint32_t length;
  size_t bytes;

  if (page->remaining == 0u)
    return 0;
  if (left < XIOKV_LIST_LENGTH_BYTES)
    return XIOKV_E_LIST_PAGE;
  length = xiokv_load_bytes(entry, XIOKV_LIST_LENGTH_BYTES);
  if (length < XIOKV_KEY_MIN_LEN || length > XIOKV_KEY_BYTES)
    return XIOKV_E_KEY_LENGTH;
  bytes = XIOKV_LIST_LENGTH_BYTES + length;
  if (left < bytes)
    return XIOKV_E_LIST_PAGE;
  (void)xiokv_key_set(key, entry + XIOKV_LIST_LENGTH_BYTES, length);
  bytes = (bytes + 3u) / 4u * 4u;
  page->offset += bytes < left ? bytes : left; /* the last pad may be cut */
  page->remaining--;
  return 1;
}
