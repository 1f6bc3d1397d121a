// SPDX-License-Identifier: MIT
/// @file
/// @brief What the machine throws: never past the C API.
#pragma once

#include <stdexcept>

namespace amdgpu {

/// @brief A code object, or a launch, that the machine does not take.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// @brief A rule of the machine that a running kernel broke.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace amdgpu
