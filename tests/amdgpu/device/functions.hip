// SPDX-License-Identifier: MIT
/// @file
/// @brief Two kernels a function: one whose lanes each have numbers of their
/// own, for vector instructions; one whose lanes share them, for scalar ones.
#include "device.h"
#include "functions.h"

struct Numbers {
  u64 a, b, c;
};

DEVICE u64 uniform(u64 value) {
  const auto half = [](u64 word) -> u64 {
    return static_cast<u32>(
        __builtin_amdgcn_readfirstlane(static_cast<int>(word)));
  };
  return half(value) | half(value >> 32) << 32;
}

#define KERNELS(name)                                                          \
  KERNEL vector_##name(const Numbers *from, u64 *to, u32 count) {              \
    const u32 i = group() * lanes() + lane();                                  \
    if (i < count)                                                             \
      to[i] = name(from[i].a, from[i].b, from[i].c);                           \
  }                                                                            \
  KERNEL scalar_##name(const Numbers *from, u64 *to, u32 count) {              \
    for (u32 i = 0; i < count; ++i) {                                          \
      const u64 result =                                                       \
          name(uniform(from[i].a), uniform(from[i].b), uniform(from[i].c));    \
      if (lane() == 0)                                                         \
        to[i] = result;                                                        \
    }                                                                          \
  }

FUNCTIONS(KERNELS)
