// SPDX-License-Identifier: MIT
/// @file
/// @brief Keys and the names of their objects: each byte as two lower-case hex
/// digits.
#pragma once

#include <optional>
#include <string>

#include "../emulator/value_store.h"

namespace xiokv::rados {

using emulator::Key;

inline std::string object_name(const Key &key) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string name;
  name.reserve(2u * key.length);
  for (uint8_t i = 0; i < key.length; ++i) {
    name += digits[key.bytes[i] >> 4];
    name += digits[key.bytes[i] & 15];
  }
  return name;
}

inline int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9')
    return digit - '0';
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/// @brief The key whose object has that name; none where it is no key's.
inline std::optional<Key> key_of_object(const std::string &name) {
  if (name.empty() || name.size() % 2 != 0 ||
      name.size() > 2 * emulator::key_bytes)
    return {};
  Key key;
  key.length = static_cast<uint8_t>(name.size() / 2);
  for (size_t i = 0; i < name.size(); i += 2) {
    const int high = hex_digit(name[i]);
    const int low = hex_digit(name[i + 1]);
    if (high < 0 || low < 0)
      return {};
    key.bytes[i / 2] = static_cast<uint8_t>(high << 4 | low);
  }
  return key;
}

} // namespace xiokv::rados
