// Copied by `xiokv-gen build` from the static templates of xiokv; do not edit.
// clang-format off
// SPDX-License-Identifier: MIT
/// @file
/// @brief What the xiokv headers need to read the same in C11, C++17, HIP and
/// CUDA.
#pragma once

#include <stddef.h>

#if defined(__CUDACC__) && !defined(__clang__)
/// @brief Marks a function that is compiled for the host and for the device.
#define XIOKV_HD __host__ __device__
#elif defined(__HIP__) || defined(__CUDA__)
#define XIOKV_HD __attribute__((host)) __attribute__((device))
#else
#define XIOKV_HD
#endif

#ifdef __cplusplus
/// @brief Alignment in bytes; stands between `struct` and the tag.
#define XIOKV_ALIGNAS(bytes) alignas(bytes)
/// @brief Alignment of a type in bytes.
#define XIOKV_ALIGNOF(type) alignof(type)
/// @brief A check at compile time.
#define XIOKV_STATIC_ASSERT(condition, message)                                \
  static_assert(condition, message)
#else
#define XIOKV_ALIGNAS(bytes) __attribute__((aligned(bytes)))
#define XIOKV_ALIGNOF(type) _Alignof(type)
#define XIOKV_STATIC_ASSERT(condition, message)                                \
  _Static_assert(condition, message)
#endif

/// @brief Prove the size and alignment of a record, in bytes.
#define XIOKV_ASSERT_RECORD(type, size, align)                                 \
  XIOKV_STATIC_ASSERT(sizeof(type) == (size), #type " has another size");      \
  XIOKV_STATIC_ASSERT(XIOKV_ALIGNOF(type) == (align),                          \
                      #type " is aligned otherwise")

/// @brief Prove where a member lies and how large it is, in bytes.
#define XIOKV_ASSERT_MEMBER(type, member, offset, size)                        \
  XIOKV_STATIC_ASSERT(offsetof(type, member) == (offset),                      \
                      #type "." #member " lies elsewhere");                    \
  XIOKV_STATIC_ASSERT(sizeof(((type *)0)->member) == (size),                   \
                      #type "." #member " has another size")

XIOKV_STATIC_ASSERT(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
                    "NVMe is little-endian, and so must be the machine");
