// SPDX-License-Identifier: MIT
/// @file
/// @brief What differs among the processors that the machine stands for.
#pragma once

#include <string>

namespace amdgpu {

enum class Family {
  cdna2, ///< gfx90a.
  cdna3, ///< gfx942.
  rdna3, ///< gfx11..
  rdna4, ///< gfx12..
};

/// @brief The family of a target such as "gfx942:xnack-".
inline Family family_of(const std::string &target) {
  if (target.compare(0, 6, "gfx90a") == 0)
    return Family::cdna2;
  if (target.compare(0, 4, "gfx9") == 0)
    return Family::cdna3;
  return target.compare(0, 5, "gfx11") == 0 ? Family::rdna3 : Family::rdna4;
}

inline bool is_cdna(Family family) { return family <= Family::cdna3; }

} // namespace amdgpu
