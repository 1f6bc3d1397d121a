// SPDX-License-Identifier: MIT
/// @file
/// @brief The page that List returns: a count of keys, then for each a 16-bit
/// length, the key, and zeros up to a multiple of 4 bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "bytes.h"
#include "value_store.h"

namespace xiokv::emulator {

inline std::vector<uint8_t> empty_list_page() {
  return std::vector<uint8_t>(4, 0);
}

/// @brief Bytes that a key takes in a page.
inline size_t list_entry_bytes(const Key &key) {
  return (2u + key.length + 3u) / 4u * 4u;
}

/// @brief Append a key, whole or not at all.
/// @param room Bytes of the host's buffer.
/// @return Whether it had room.
inline bool add_to_list_page(std::vector<uint8_t> &page, uint64_t room,
                             const Key &key) {
  const size_t at = page.size();
  const size_t bytes = list_entry_bytes(key);
  if (at + bytes > room)
    return false;
  page.resize(at + bytes, 0);
  store<uint16_t>(page.data() + at, key.length);
  std::memcpy(page.data() + at + 2, key.bytes.data(), key.length);
  store<uint32_t>(page.data(), load<uint32_t>(page.data()) + 1);
  return true;
}

} // namespace xiokv::emulator
