// SPDX-License-Identifier: MIT
/// @file
/// @brief As much of JSON as a module's description needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace xiokv::host {

/// @brief A value. Numbers are integers from 0 on; others, as true and null,
/// are of kind `other`.
struct Json {
  enum class Kind { object, array, text, number, other };

  Kind kind = Kind::other;
  std::map<std::string, Json> members;
  std::vector<Json> items;
  std::string text;
  uint64_t number = 0;

  /// @brief A member of an object, or null where there is none of that kind.
  const Json *member(const char *name, Kind wanted) const;

  /// @brief Read a whole text.
  /// @return Whether it is JSON.
  static bool parse(const std::string &text, Json &value);
};

} // namespace xiokv::host
