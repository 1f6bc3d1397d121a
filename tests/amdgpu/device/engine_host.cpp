// SPDX-License-Identifier: MIT
/// @file
/// @brief The same parts of the engine, called on the host.
#include "engine.h"

#define ENGINE_HOST(name)                                                      \
  extern "C" void name##_host(const Numbers *from, Numbers *to,                \
                              uint8_t *areas, uint32_t count) {                \
    for (uint32_t i = 0; i < count; ++i)                                       \
      to[i] = name(from[i], areas + i * area_bytes);                           \
  }

ENGINE_FUNCTIONS(ENGINE_HOST)
