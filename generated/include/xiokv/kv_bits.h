// Copied by `xiokv-gen build` from the static templates of xiokv; do not edit.
// clang-format off
// SPDX-License-Identifier: MIT
/// @file
/// @brief Bit ranges: the one place in C that shifts and masks.
///
/// A range [msb:lsb] is written as the NVMe specifications write it, both ends
/// included. With constant ends every function here folds to one or two
/// instructions, or to none.
#pragma once

#include <stdint.h>

#include "xiokv/kv_macros.h"

/// @brief Mask of bits [msb:lsb] of a dword, in place.
/// @param msb Highest bit, 0..31, not below `lsb`.
/// @param lsb Lowest bit, 0..31.
/// @return The mask.
XIOKV_HD static inline uint32_t xiokv_bits_mask(unsigned msb, unsigned lsb) {
  return (UINT32_MAX >> (31u - (msb - lsb))) << lsb;
}

/// @brief Place a value at bits [msb:lsb] of an otherwise zero dword.
/// @param value Value; bits of it that do not fit the range are dropped.
/// @param msb Highest bit, 0..31, not below `lsb`.
/// @param lsb Lowest bit, 0..31.
/// @return The dword.
XIOKV_HD static inline uint32_t xiokv_bits_put(uint32_t value, unsigned msb,
                                               unsigned lsb) {
  return (value << lsb) & xiokv_bits_mask(msb, lsb);
}

/// @brief Keep bits [msb:lsb] of a dword, in place, and zero the others.
/// @param word The dword.
/// @param msb Highest bit, 0..31, not below `lsb`.
/// @param lsb Lowest bit, 0..31.
/// @return The dword with all other bits zeroed.
XIOKV_HD static inline uint32_t xiokv_bits_keep(uint32_t word, unsigned msb,
                                                unsigned lsb) {
  return word & xiokv_bits_mask(msb, lsb);
}

/// @brief Read bits [msb:lsb] of a dword.
/// @param word The dword.
/// @param msb Highest bit, 0..31, not below `lsb`.
/// @param lsb Lowest bit, 0..31.
/// @return The value, moved down to bit 0.
XIOKV_HD static inline uint32_t xiokv_bits_get(uint32_t word, unsigned msb,
                                               unsigned lsb) {
  return (word & xiokv_bits_mask(msb, lsb)) >> lsb;
}

/// @brief Replace bits [msb:lsb] of a dword.
/// @param word The dword.
/// @param value New value; bits of it that do not fit the range are dropped.
/// @param msb Highest bit, 0..31, not below `lsb`.
/// @param lsb Lowest bit, 0..31.
/// @return The dword with the range replaced.
XIOKV_HD static inline uint32_t xiokv_bits_set(uint32_t word, uint32_t value,
                                               unsigned msb, unsigned lsb) {
  return (word & ~xiokv_bits_mask(msb, lsb)) | xiokv_bits_put(value, msb, lsb);
}

/// @brief Tell whether a value fits bits [msb:lsb].
/// @param value The value.
/// @param msb Highest bit, 0..31, not below `lsb`.
/// @param lsb Lowest bit, 0..31.
/// @return 1 where it fits, else 0.
XIOKV_HD static inline int xiokv_bits_fit(uint64_t value, unsigned msb,
                                          unsigned lsb) {
  return value <= xiokv_bits_mask(msb - lsb, 0);
}

/// @brief Keep the lowest bytes of a dword and zero the others.
/// @param word The dword.
/// @param count Bytes to keep; 4 or more keeps the dword as it is.
/// @return The dword with its upper bytes zeroed.
XIOKV_HD static inline uint32_t xiokv_bits_low_bytes(uint32_t word,
                                                     uint32_t count) {
  return count >= 4u ? word : word & ((UINT32_C(1) << (8u * count)) - 1u);
}

/// @brief Lower half of a 64-bit word.
/// @param word The word.
/// @return Bits [31:0].
XIOKV_HD static inline uint32_t xiokv_bits_low_dword(uint64_t word) {
  return (uint32_t)word;
}

/// @brief Upper half of a 64-bit word.
/// @param word The word.
/// @return Bits [63:32].
XIOKV_HD static inline uint32_t xiokv_bits_high_dword(uint64_t word) {
  return (uint32_t)(word >> 32);
}
