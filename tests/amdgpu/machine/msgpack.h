// SPDX-License-Identifier: MIT
/// @file
/// @brief Reads MessagePack, the form of a code object's metadata.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <map>
#include <string>
#include <vector>

namespace amdgpu {

/// @brief A value: a number, a text, a list or a map from texts. Booleans are
/// numbers.
struct Value {
  uint64_t number = 0;
  std::string text;
  std::vector<Value> list;
  std::map<std::string, Value> members;

  /// @brief The member under a name; throws Refusal where there is none.
  const Value &at(const std::string &name) const;
  /// @brief The number under a name; `otherwise` where there is none.
  uint64_t number_or(const std::string &name, uint64_t otherwise) const;
};

/// @brief Read one value; throws Refusal where the bytes are not one.
Value read_msgpack(const uint8_t *bytes, size_t size);

} // namespace amdgpu
