// SPDX-License-Identifier: MIT
/// @file
/// @brief Little-endian numbers in byte images.
#pragma once

#include <cstddef>
#include <cstdint>

namespace xiokv::emulator {

/// @brief The number at `from`, which need not be aligned.
template <class Number> Number load(const uint8_t *from) {
  Number number = 0;
  for (size_t i = 0; i < sizeof number; ++i)
    number = static_cast<Number>(
        number | static_cast<Number>(static_cast<Number>(from[i]) << (8 * i)));
  return number;
}

/// @brief Write a number at `to`, which need not be aligned.
template <class Number> void store(uint8_t *to, Number number) {
  for (size_t i = 0; i < sizeof number; ++i)
    to[i] = static_cast<uint8_t>(number >> (8 * i));
}

/// @brief Whether all of `size` bytes are zero.
inline bool all_zero(const uint8_t *from, size_t size) {
  for (size_t i = 0; i < size; ++i)
    if (from[i] != 0)
      return false;
  return true;
}

} // namespace xiokv::emulator
