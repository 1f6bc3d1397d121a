// SPDX-License-Identifier: MIT
/// @file
/// @brief The functions as the host's processor computes them.
#include "functions.h"

struct Numbers {
  u64 a, b, c;
};

#define HOST(name)                                                             \
  extern "C" void name##_host(const Numbers *from, u64 *to, u32 count) {       \
    for (u32 i = 0; i < count; ++i)                                            \
      to[i] = name(from[i].a, from[i].b, from[i].c);                           \
  }

FUNCTIONS(HOST)
