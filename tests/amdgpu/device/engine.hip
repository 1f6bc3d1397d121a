// SPDX-License-Identifier: MIT
/// @file
/// @brief A kernel for each part of the engine, a call a lane.
#include "device.h"
#include "engine.h"

#define ENGINE_KERNEL(name)                                                    \
  KERNEL name##_kernel(const Numbers *from, Numbers *to, uint8_t *areas,       \
                       uint32_t count) {                                       \
    const uint32_t i = group() * lanes() + lane();                             \
    if (i < count)                                                             \
      to[i] = name(from[i], areas + i * area_bytes);                           \
  }

ENGINE_FUNCTIONS(ENGINE_KERNEL)
