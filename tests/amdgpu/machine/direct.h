// SPDX-License-Identifier: MIT
/// @file
/// @brief Memory where every access happens at once.
#pragma once

#include <memory>

#include "memory.h"

namespace amdgpu {

std::unique_ptr<Memory> make_direct_memory();

} // namespace amdgpu
