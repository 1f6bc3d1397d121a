// SPDX-License-Identifier: MIT
/// @file
/// @brief What integer instructions compute, as functions of one lane. Scalar
/// and vector instructions share them.
#pragma once

#include <stdint.h>

#include <algorithm>

namespace amdgpu {

using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using i16 = int16_t;
using i32 = int32_t;
using i64 = int64_t;

template <class T> T move(T a) { return a; }
template <class T> T add(T a, T b) { return static_cast<T>(a + b); }
template <class T> T sub(T a, T b) { return static_cast<T>(a - b); }
template <class T> T reverse_sub(T a, T b) { return sub(b, a); }
template <class T> T mul(T a, T b) {
  return static_cast<T>(static_cast<u64>(a) * b);
}
template <class T> T min_of(T a, T b) { return a < b ? a : b; }
template <class T> T max_of(T a, T b) { return a > b ? a : b; }
template <class T> T min3(T a, T b, T c) { return min_of(min_of(a, b), c); }
template <class T> T max3(T a, T b, T c) { return max_of(max_of(a, b), c); }
template <class T> T med3(T a, T b, T c) {
  return max_of(min_of(a, b), min_of(max_of(a, b), c));
}

template <class T> T not_(T a) { return static_cast<T>(~a); }
template <class T> T and_(T a, T b) { return a & b; }
template <class T> T or_(T a, T b) { return a | b; }
template <class T> T xor_(T a, T b) { return a ^ b; }
template <class T> T and_not(T a, T b) { return a & ~b; }
template <class T> T or_not(T a, T b) { return a | ~b; }
template <class T> T nand(T a, T b) { return ~(a & b); }
template <class T> T nor(T a, T b) { return ~(a | b); }
template <class T> T xnor(T a, T b) { return ~(a ^ b); }
// With the operands in the order of the saveexec instructions.
template <class T> T not_and(T a, T b) { return ~a & b; }
template <class T> T not_or(T a, T b) { return ~a | b; }

// The count comes from the low bits of the shift operand.
template <class T> T shl(T a, u32 by) {
  return static_cast<T>(a << (by & (8 * sizeof(T) - 1)));
}
template <class T> T shr(T a, u32 by) {
  return static_cast<T>(a >> (by & (8 * sizeof(T) - 1)));
}
// Vector shifts have the count first.
template <class T> T shl_reverse(u32 by, T a) { return shl(a, by); }
template <class T> T shr_reverse(u32 by, T a) { return shr(a, by); }

inline u32 mul_high(u32 a, u32 b) {
  return static_cast<u32>(static_cast<u64>(a) * b >> 32);
}
inline i32 mul_high_signed(i32 a, i32 b) {
  return static_cast<i32>(static_cast<i64>(a) * b >> 32);
}
inline u32 low24(u32 a) { return a & 0xffffff; }
inline i32 low24_signed(u32 a) { return static_cast<i32>(a << 8) >> 8; }
inline u32 mul24(u32 a, u32 b) { return low24(a) * low24(b); }
inline u32 mul24_signed(u32 a, u32 b) {
  return static_cast<u32>(static_cast<i64>(low24_signed(a)) * low24_signed(b));
}
inline u32 mul_high24(u32 a, u32 b) {
  return static_cast<u32>(static_cast<u64>(low24(a)) * low24(b) >> 32);
}
inline u32 mul_high24_signed(u32 a, u32 b) {
  return static_cast<u32>(static_cast<i64>(low24_signed(a)) * low24_signed(b) >>
                          32);
}
inline u32 mad24(u32 a, u32 b, u32 c) { return mul24(a, b) + c; }
inline u32 mad24_signed(u32 a, u32 b, u32 c) { return mul24_signed(a, b) + c; }
inline u16 mad16(u16 a, u16 b, u16 c) {
  return static_cast<u16>(static_cast<u32>(a) * b + c);
}
inline u32 mad32_16(u16 a, u16 b, u32 c) { return static_cast<u32>(a) * b + c; }

inline u32 add3(u32 a, u32 b, u32 c) { return a + b + c; }
inline u32 xor3(u32 a, u32 b, u32 c) { return a ^ b ^ c; }
inline u32 or3(u32 a, u32 b, u32 c) { return a | b | c; }
inline u32 xor_add(u32 a, u32 b, u32 c) { return (a ^ b) + c; }
inline u32 and_or(u32 a, u32 b, u32 c) { return (a & b) | c; }
inline u32 shl_add(u32 a, u32 b, u32 c) { return shl(a, b) + c; }
inline u32 add_shl(u32 a, u32 b, u32 c) { return shl(a + b, c); }
inline u32 shl_or(u32 a, u32 b, u32 c) { return shl(a, b) | c; }
inline u64 shl_add64(u64 a, u32 b, u64 c) { return shl(a, b) + c; }
/// s_lshl<n>_add_u32.
template <unsigned by> u64 shifted_sum(u32 a, u32 b) {
  return (static_cast<u64>(a) << by) + b;
}

inline u32 field_mask(u32 width) {
  return width >= 32 ? ~0u : (1u << width) - 1;
}
inline u32 field(u32 a, u32 offset, u32 width) {
  return a >> (offset & 31) & field_mask(width & 31);
}
inline i32 field_signed(i32 a, u32 offset, u32 width) {
  width &= 31;
  offset &= 31;
  if (width == 0)
    return 0;
  const i32 moved = a >> offset;
  const unsigned unused = 32 - width;
  return static_cast<i32>(static_cast<u32>(moved) << unused) >> unused;
}
inline u32 insert(u32 mask, u32 a, u32 b) { return (mask & a) | (~mask & b); }
inline u32 bit_mask(u32 width, u32 offset) {
  return ((1u << (width & 31)) - 1) << (offset & 31);
}
inline u64 bit_mask64(u32 width, u32 offset) {
  return ((u64(1) << (width & 63)) - 1) << (offset & 63);
}
// Scalar fields have offset and width in one operand.
inline u32 packed_field(u32 a, u32 where) {
  const u32 width = where >> 16 & 0x7f;
  return width == 0 ? 0 : a >> (where & 31) & field_mask(width);
}
inline u32 packed_field_signed(u32 a, u32 where) {
  const u32 width = std::min(where >> 16 & 0x7f, 32 - (where & 31));
  if (width == 0)
    return 0;
  const u32 unused = 32 - width;
  const u32 value = a >> (where & 31) << unused;
  return static_cast<u32>(static_cast<i32>(value) >> unused);
}
inline u64 packed_field64(u64 a, u32 where) {
  const u32 width = where >> 16 & 0x7f;
  const u64 mask = width >= 64 ? ~u64(0) : (u64(1) << width) - 1;
  return a >> (where & 63) & mask;
}
inline u64 packed_field64_signed(u64 a, u32 where) {
  const u32 width = std::min(where >> 16 & 0x7f, 64 - (where & 63));
  if (width == 0)
    return 0;
  const u32 unused = 64 - width;
  const u64 value = a >> (where & 63) << unused;
  return static_cast<u64>(static_cast<i64>(value) >> unused);
}

inline u32 align_bits(u32 high, u32 low, u32 by) {
  return static_cast<u32>((static_cast<u64>(high) << 32 | low) >> (by & 31));
}
inline u32 align_bytes(u32 high, u32 low, u32 by) {
  return align_bits(high, low, (by & 3) * 8);
}
/// Four bytes, each chosen by a byte of the selector.
inline u32 permute_bytes(u32 high, u32 low, u32 selector) {
  const u64 from = static_cast<u64>(high) << 32 | low;
  u32 result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const u32 which = selector >> 8 * i & 0xff;
    u64 byte = 0xff;
    if (which < 8)
      byte = from >> 8 * which & 0xff;
    else if (which < 12) // The sign of one of four words.
      byte = from >> (16 * (which - 8) + 15) & 1 ? 0xff : 0;
    else if (which == 12)
      byte = 0;
    result |= static_cast<u32>(byte) << 8 * i;
  }
  return result;
}

inline u32 reverse_bits(u32 a) {
  a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
  a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
  a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(a);
}
inline u64 reverse_bits64(u64 a) {
  return static_cast<u64>(reverse_bits(static_cast<u32>(a))) << 32 |
         reverse_bits(static_cast<u32>(a >> 32));
}
inline u32 ones(u32 a) { return static_cast<u32>(__builtin_popcount(a)); }
inline u32 ones64(u64 a) { return static_cast<u32>(__builtin_popcountll(a)); }
inline u32 zeros(u32 a) { return 32 - ones(a); }
inline u32 zeros64(u64 a) { return 64 - ones64(a); }
inline u32 count_ones(u32 a, u32 b) { return ones(a) + b; }
inline u32 first_one(u32 a) {
  return a == 0 ? ~0u : static_cast<u32>(__builtin_ctz(a));
}
inline u32 first_one64(u64 a) {
  return a == 0 ? ~0u : static_cast<u32>(__builtin_ctzll(a));
}
inline u32 first_zero(u32 a) { return first_one(~a); }
inline u32 first_zero64(u64 a) { return first_one64(~a); }
inline u32 leading_zeros(u32 a) {
  return a == 0 ? ~0u : static_cast<u32>(__builtin_clz(a));
}
inline u32 leading_zeros64(u64 a) {
  return a == 0 ? ~0u : static_cast<u32>(__builtin_clzll(a));
}
/// Bits equal to the sign, which counts; -1 where all are.
inline u32 leading_signs(u32 a) {
  return leading_zeros(static_cast<i32>(a) < 0 ? ~a : a);
}
inline u32 leading_signs64(u64 a) {
  return leading_zeros64(static_cast<i64>(a) < 0 ? ~a : a);
}
inline u32 sign_extend8(u32 a) {
  return static_cast<u32>(static_cast<int8_t>(a));
}
inline u32 sign_extend16(u32 a) {
  return static_cast<u32>(static_cast<i16>(a));
}

inline u32 pack_low_low(u32 a, u32 b) { return (a & 0xffff) | b << 16; }
inline u32 pack_low_high(u32 a, u32 b) { return (a & 0xffff) | (b & ~0xffffu); }
inline u32 pack_high_high(u32 a, u32 b) { return a >> 16 | (b & ~0xffffu); }
inline u32 pack_high_low(u32 a, u32 b) { return a >> 16 | b << 16; }

inline u32 distance(u32 a, u32 b) { return a > b ? a - b : b - a; }
inline u32 sad(u32 a, u32 b, u32 c) { return distance(a, b) + c; }

template <class T> bool equal(T a, T b) { return a == b; }
template <class T> bool unequal(T a, T b) { return a != b; }
template <class T> bool less(T a, T b) { return a < b; }
template <class T> bool at_most(T a, T b) { return a <= b; }
template <class T> bool greater(T a, T b) { return a > b; }
template <class T> bool at_least(T a, T b) { return a >= b; }
// True where an operand is not a number, too.
template <class T> bool not_less(T a, T b) { return !(a < b); }
template <class T> bool not_at_most(T a, T b) { return !(a <= b); }
template <class T> bool not_greater(T a, T b) { return !(a > b); }
template <class T> bool not_at_least(T a, T b) { return !(a >= b); }
template <class T> bool less_or_greater(T a, T b) { return a < b || a > b; }
template <class T> bool ordered(T a, T b) { return a == a && b == b; }
template <class T> bool unordered(T a, T b) { return a != a || b != b; }
template <class T> bool always(T, T) { return true; }
template <class T> bool never(T, T) { return false; }

} // namespace amdgpu
