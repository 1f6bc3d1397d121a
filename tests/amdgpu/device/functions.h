// SPDX-License-Identifier: MIT
/// @file
/// @brief Functions that clang compiles for the host and for GPUs: each of
/// three numbers, in turn exercising another kind of instruction.
///
/// None may depend on what C++ leaves open: shifts stay below the width, signed
/// sums do not overflow, divisors are not 0.
#pragma once

#include <stdint.h>

#if defined(__AMDGCN__)
#define PLACE __attribute__((device)) __attribute__((always_inline))
#else
#define PLACE
#endif

#define FUNCTION(name)                                                         \
  static inline PLACE uint64_t name([[maybe_unused]] uint64_t a,               \
                                    [[maybe_unused]] uint64_t b,               \
                                    [[maybe_unused]] uint64_t c)

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;

// 64-bit sums, products, shifts.
FUNCTION(add_sub64) { return a + b - c; }
FUNCTION(mul64) { return a * b + c; }
FUNCTION(mul_high64) {
  return static_cast<u64>(static_cast<unsigned __int128>(a) * b >> 64) ^ c;
}
FUNCTION(mul_high_signed64) {
  return static_cast<u64>(static_cast<__int128>(static_cast<i64>(a)) *
                              static_cast<i64>(b) >>
                          64) +
         c;
}
FUNCTION(add128) {
  const auto sum = (static_cast<unsigned __int128>(a) << 64 | b) +
                   (static_cast<unsigned __int128>(c) << 64 | a);
  return static_cast<u64>(sum >> 64) ^ static_cast<u64>(sum);
}
FUNCTION(shifts64) { return (a << (c & 63)) ^ (b >> (c >> 8 & 63)); }
FUNCTION(shift_signed64) {
  return static_cast<u64>(static_cast<i64>(a) >> (b & 63)) + c;
}
FUNCTION(divide64) { return a / (b | 1) + a % (c | 1); }
FUNCTION(divide_signed64) {
  const i64 divisor = static_cast<i64>(b >> 1 | 1);
  return static_cast<u64>(static_cast<i64>(a) / divisor +
                          static_cast<i64>(c) % divisor);
}
FUNCTION(rotate64) {
  const u32 by = c & 63;
  return a << by | b >> (63 - by) >> 1;
}

// 32 bits.
FUNCTION(add_sub32) {
  return static_cast<u32>(a) + static_cast<u32>(b) - static_cast<u32>(c);
}
FUNCTION(mul32) {
  return static_cast<u32>(a) * static_cast<u32>(b) + static_cast<u32>(c);
}
FUNCTION(mul_wide32) { return (a & 0xffffffff) * (b & 0xffffffff) + c; }
FUNCTION(mul_wide_signed32) {
  return static_cast<u64>(static_cast<i64>(static_cast<i32>(a)) *
                          static_cast<i32>(b)) +
         c;
}
FUNCTION(mul_high32) {
  return ((a & 0xffffffff) * (b & 0xffffffff) >> 32) + (c & 0xff);
}
FUNCTION(mul24) {
  return static_cast<u32>(a & 0xffffff) * static_cast<u32>(b & 0xffffff) +
         static_cast<u32>(c);
}
FUNCTION(mul24_signed) {
  const i32 x = static_cast<i32>(static_cast<u32>(a) << 8) >> 8;
  const i32 y = static_cast<i32>(static_cast<u32>(b) << 8) >> 8;
  return static_cast<u32>(x) * static_cast<u32>(y) + static_cast<u32>(c);
}
FUNCTION(shifts32) {
  return (static_cast<u32>(a) << (c & 31)) +
         (static_cast<u32>(b) >> (c >> 8 & 31));
}
FUNCTION(shift_signed32) {
  return static_cast<u64>(static_cast<i64>(static_cast<i32>(a) >> (b & 31))) ^
         c;
}
FUNCTION(shift_adds) {
  const u32 x = static_cast<u32>(a), y = static_cast<u32>(b);
  const u32 z = static_cast<u32>(c);
  return ((x << 3) + y) ^ ((x + y) << 5) ^ ((x << 7) | z) ^ ((x ^ z) + y) ^
         ((z << 1) + x) ^ ((z << 2) + y);
}
FUNCTION(divide32) {
  return static_cast<u32>(a) / (static_cast<u32>(b) | 1) +
         static_cast<u32>(a) % (static_cast<u32>(c) | 1);
}
FUNCTION(divide_signed32) {
  const i32 divisor = static_cast<i32>(static_cast<u32>(b) >> 1 | 1);
  return static_cast<u32>(static_cast<i32>(a) / divisor +
                          static_cast<i32>(c) % divisor);
}
FUNCTION(divide_by_constants) {
  return a / 10 + b % 1000003 + static_cast<u32>(c) / 7u;
}

// Bits.
FUNCTION(logic64) {
  return ((a & b) | c) ^ (a & ~c) ^ (b | ~a) ^ ~(a ^ c) ^ ~(a | b);
}
FUNCTION(logic32) {
  const u32 x = static_cast<u32>(a), y = static_cast<u32>(b);
  const u32 z = static_cast<u32>(c);
  return (x & y) + (z | (x ^ y)) + ~(x & z) + ((x & y) | (~x & z)) +
         (x ^ y ^ z) + (x | y | z);
}
FUNCTION(fields) {
  const u32 x = static_cast<u32>(a);
  return (x >> 5 & 0x7f) | (static_cast<u64>(x >> 19 & 0x3ff) << 20) |
         (b >> 33 & 0x1ffff) << 40;
}
FUNCTION(variable_fields) {
  const u32 offset = b & 31, width = c & 31;
  return static_cast<u32>(a) >> offset & ((1u << width) - 1);
}
FUNCTION(signed_fields) {
  const i32 x = static_cast<i32>(static_cast<u32>(a) << 7) >> 20;
  return static_cast<u64>(static_cast<i64>(x)) + b + c;
}
FUNCTION(extensions) {
  return static_cast<u64>(static_cast<i8>(a)) ^
         static_cast<u64>(static_cast<i16>(b)) << 3 ^
         static_cast<u64>(static_cast<i32>(c));
}
FUNCTION(counts) {
  return static_cast<u32>(__builtin_popcountll(a) +
                          __builtin_popcount(static_cast<u32>(b))) +
         static_cast<u32>(c);
}
FUNCTION(leading) {
  return static_cast<u64>(__builtin_clzll(a | 1)) +
         (static_cast<u64>(__builtin_clz(static_cast<u32>(b) | 1)) << 8) + c;
}
FUNCTION(trailing) {
  return static_cast<u64>(__builtin_ctzll(a | u64(1) << 63)) +
         (static_cast<u64>(__builtin_ctz(static_cast<u32>(b) | 0x80000000))
          << 8) +
         c;
}
FUNCTION(leading_or_none) {
  const u32 x = static_cast<u32>(a);
  return (x == 0 ? 99 : static_cast<u32>(__builtin_clz(x))) + (b ^ c);
}
FUNCTION(reversed) {
  return __builtin_bitreverse64(a) ^
         __builtin_bitreverse32(static_cast<u32>(b)) ^ __builtin_bswap64(c) ^
         __builtin_bswap32(static_cast<u32>(b));
}
FUNCTION(bytes) {
  return (a >> 8 & 0xff) | (b >> 24 & 0xff) << 8 | (c & 0xff) << 16 |
         (a >> 40 & 0xff) << 24;
}
FUNCTION(rotate32) {
  const u32 x = static_cast<u32>(a), by = c & 31;
  const u32 y = static_cast<u32>(b);
  return (x << 13 | x >> 19) ^ (x >> by | y << (31 - by) << 1);
}

// 16 bits.
FUNCTION(add16) { return static_cast<u16>(a + b) ^ static_cast<u16>(c - a); }
FUNCTION(mul16) {
  return static_cast<u16>(static_cast<u16>(a) * static_cast<u16>(b) +
                          static_cast<u16>(c));
}
FUNCTION(shifts16) {
  return static_cast<u16>(static_cast<u16>(a) << (b & 15)) ^
         static_cast<u16>(static_cast<u16>(c) >> (b >> 4 & 15)) ^
         static_cast<u16>(static_cast<i16>(a) >> (b >> 8 & 15));
}
FUNCTION(compare16) {
  const u16 x = static_cast<u16>(a), y = static_cast<u16>(b);
  const i16 z = static_cast<i16>(c);
  return static_cast<u64>(x < y ? x : y) ^
         static_cast<u64>(static_cast<u16>(z > static_cast<i16>(a) ? z : 7));
}

// Choices.
FUNCTION(compare_unsigned64) {
  return u64(a < b) | u64(a <= c) << 1 | u64(b == c) << 2 | u64(a != c) << 3 |
         u64(a > c) << 4 | u64(b >= c) << 5;
}
FUNCTION(compare_signed64) {
  const i64 x = static_cast<i64>(a), y = static_cast<i64>(b);
  const i64 z = static_cast<i64>(c);
  return u64(x < y) | u64(x <= z) << 1 | u64(x > z) << 2 | u64(y >= z) << 3;
}
FUNCTION(compare_unsigned32) {
  const u32 x = static_cast<u32>(a), y = static_cast<u32>(b);
  const u32 z = static_cast<u32>(c);
  return u64(x < y) | u64(x <= z) << 1 | u64(y == z) << 2 | u64(x != z) << 3 |
         u64(x > z) << 4 | u64(y >= z) << 5 | u64(x > 100) << 6;
}
FUNCTION(compare_signed32) {
  const i32 x = static_cast<i32>(a), y = static_cast<i32>(b);
  const i32 z = static_cast<i32>(c);
  return u64(x < y) | u64(x <= z) << 1 | u64(x > z) << 2 | u64(y >= z) << 3 |
         u64(x < -5) << 4;
}
FUNCTION(extremes) {
  const u32 x = static_cast<u32>(a), y = static_cast<u32>(b);
  const u32 z = static_cast<u32>(c);
  const i32 s = static_cast<i32>(a), t = static_cast<i32>(b);
  const u32 low = x < y ? x : y, high = x > y ? x : y;
  const u32 lowest = low < z ? low : z, highest = high > z ? high : z;
  return lowest ^ (u64(highest) << 32) ^ static_cast<u32>(s < t ? s : t) ^
         (u64(static_cast<u32>(s > t ? s : t)) << 16);
}
FUNCTION(distance) {
  const u32 x = static_cast<u32>(a), y = static_cast<u32>(b);
  return (x > y ? x - y : y - x) + static_cast<u32>(c);
}
FUNCTION(magnitude) {
  const i64 x = static_cast<i64>(a);
  const i32 y = static_cast<i32>(b) >> 1;
  return (x < 0 ? 0 - a : a) + static_cast<u32>(y < 0 ? -y : y) + c;
}
FUNCTION(saturated) {
  const u32 x = static_cast<u32>(a), y = static_cast<u32>(b);
  u32 sum = x + y;
  if (sum < x)
    sum = ~0u;
  return sum + c;
}
FUNCTION(branches) {
  if (a & 1)
    return b * 3 + c;
  if (a & 2) {
    if (b & 1)
      return c - b;
    return b ^ c;
  }
  return a + (b > c ? b : c + 9);
}
FUNCTION(switches) {
  switch (a & 7) {
  case 0:
    return b + c;
  case 1:
    return b - c;
  case 2:
    return b * c;
  case 3:
    return b ^ c;
  case 5:
    return ~b;
  case 6:
    return c >> 3;
  default:
    return 77;
  }
}
FUNCTION(loops) {
  u64 result = c;
  for (u64 i = 0; i < (a & 31); ++i) {
    result = result * 6364136223846793005u + b;
    if ((result >> 60) == 3)
      break;
    if (result & 1)
      continue;
    result ^= result >> 7;
  }
  return result;
}
FUNCTION(greatest_divisor) {
  u32 x = static_cast<u32>(a) | 1, y = static_cast<u32>(b);
  while (y != 0) {
    const u32 rest = x % y;
    x = y;
    y = rest;
  }
  return x + c;
}

// Floating point, as integer code may use it.
FUNCTION(to_floats) {
  const float x = static_cast<float>(static_cast<u32>(a));
  const float y = static_cast<float>(static_cast<i32>(b));
  u32 bits[2];
  __builtin_memcpy(&bits[0], &x, 4);
  __builtin_memcpy(&bits[1], &y, 4);
  return bits[0] ^ u64(bits[1]) << 32 ^ c;
}
FUNCTION(from_floats) {
  const float x = static_cast<float>(a & 0xffffff) * 0.25f;
  const double y = static_cast<double>(static_cast<u32>(b)) * 0.125 + 3;
  return static_cast<u32>(x) + static_cast<u64>(static_cast<u32>(y)) + c;
}
FUNCTION(float_sums) {
  const float x = static_cast<float>(a & 0xffff),
              y = static_cast<float>(b & 0xffff);
  const float z = -x + y * 2 - 3;
  return (z < x) | u64(z >= y) << 1 |
         u64(static_cast<u32>(z < 0 ? -z : z)) << 2 | c << 40;
}

// With names, for kernels and host functions alike.
#define FUNCTIONS(X)                                                           \
  X(add_sub64)                                                                 \
  X(mul64)                                                                     \
  X(mul_high64)                                                                \
  X(mul_high_signed64)                                                         \
  X(add128)                                                                    \
  X(shifts64) X(shift_signed64) X(divide64) X(divide_signed64) X(rotate64)     \
      X(add_sub32) X(mul32) X(mul_wide32) X(mul_wide_signed32) X(mul_high32)   \
          X(mul24) X(mul24_signed) X(shifts32) X(shift_signed32) X(shift_adds) \
              X(divide32) X(divide_signed32) X(divide_by_constants) X(logic64) \
                  X(logic32) X(fields) X(variable_fields) X(signed_fields)     \
                      X(extensions) X(counts) X(leading) X(trailing)           \
                          X(leading_or_none) X(reversed) X(bytes) X(rotate32)  \
                              X(add16) X(mul16) X(shifts16) X(compare16)       \
                                  X(compare_unsigned64) X(compare_signed64) X( \
                                      compare_unsigned32) X(compare_signed32)  \
                                      X(extremes) X(distance) X(magnitude)     \
                                          X(saturated) X(branches) X(switches) \
                                              X(loops) X(greatest_divisor)     \
                                                  X(to_floats) X(from_floats)  \
                                                      X(float_sums)
