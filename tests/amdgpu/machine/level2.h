// SPDX-License-Identifier: MIT
/// @file
/// @brief The second level cache of a device.
#pragma once

namespace amdgpu {

class Level2 {};

} // namespace amdgpu
