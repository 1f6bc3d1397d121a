// SPDX-License-Identifier: MIT
/// @file
/// @brief Little-endian numbers in byte images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace xiokv::emulator {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "as on the wire");

/// @brief The number at `from`, which need not be aligned.
template <class Number> Number load(const uint8_t *from) {
  Number number;
  std::memcpy(&number, from, sizeof number);
  return number;
}

/// @brief Write a number at `to`, which need not be aligned.
template <class Number> void store(uint8_t *to, Number number) {
  std::memcpy(to, &number, sizeof number);
}

/// @brief Whether all of `size` bytes are zero.
inline bool all_zero(const uint8_t *from, size_t size) {
  for (size_t i = 0; i < size; ++i)
    if (from[i] != 0)
      return false;
  return true;
}

} // namespace xiokv::emulator
