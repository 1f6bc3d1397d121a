// SPDX-License-Identifier: MIT
/// @file
/// @brief A compiled module, found, checked and loaded.
#pragma once

#include "description.h"
#include "library.h"
#include "search.h"

namespace xiokv::host {

class Module {
public:
  static constexpr const char *what = "module";
  static constexpr bool forks = true;

  /// @brief Load what was found; a Fault where it cannot be used.
  explicit Module(Found found);

  /// @brief A command's kernel; a Fault where the module has none.
  xiokv_entry kernel(uint32_t opcode) const;

  /// @brief Bits of the profile's fields in a command.
  xiokv_reserved fields(uint32_t opcode) const;

  /// @brief A line that says which module it is.
  std::string told() const;

private:
  void check_inside() const;

  const Found found_;
  const Description description_;
  const Library library_;
};

} // namespace xiokv::host
