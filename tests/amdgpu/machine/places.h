// SPDX-License-Identifier: MIT
/// @file
/// @brief From addresses as waves have them to bytes of this process.
#pragma once

#include <stdint.h>

#include "access.h"

namespace amdgpu {

/// @brief Where a part of a lane's access really is.
struct Place {
  Space space; ///< global, lds or scratch.
  uint8_t *bytes;
};

/// @brief Check an address and resolve it; throws Fault.
Place resolve(const Access &access, unsigned lane, unsigned part);

/// @brief Copy between registers and a place, or run an atomic on it. All of a
/// part of up to 16 bytes goes at once.
void transfer(const Access &access, unsigned lane, unsigned part,
              uint8_t *bytes);

} // namespace amdgpu
