// SPDX-License-Identifier: MIT
/// @file
/// @brief Where a compiled module is looked for; the first place that has one
/// decides. What is found is not judged here.
#pragma once

#include <string>

namespace xiokv::host {

/// @brief A module's place.
struct Found {
  std::string place;  ///< Its folder, file or description.
  std::string source; ///< Who named the place.
};

/// @brief Look for a module.
/// @param named What the caller names; NULL: see xiokv_load.
Found find_module(const char *named);

} // namespace xiokv::host
