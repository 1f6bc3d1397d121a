// SPDX-License-Identifier: MIT
/// @file
/// @brief The description beside a compiled module, module.json.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "xiokv.h"

namespace xiokv::host {

/// @brief What a host module says of itself.
struct Description {
  std::string file; ///< Path of its library.
  std::string sha256;
  std::string arch;
  std::string generator;
  std::string compiler;
  std::string spec;
  /// By opcode: entry of the command, and the bits that its profile's fields
  /// have in the three places.
  struct Command {
    std::string kernel;
    xiokv_reserved fields = {};
  };
  std::map<uint32_t, Command> commands;

  /// @brief What was built, in a few words.
  std::string built() const;
};

/// @brief Whether a folder holds a module, or what is left of one.
bool is_module(const std::string &folder);

/// @brief Read the description of the module at `place`: its folder, its file
/// or its description. A Fault where it is none of a host module that is whole.
Description read_description(const std::string &place);

/// @brief The text of a file; a Fault where it cannot be read.
std::string read_file(const std::string &path);

} // namespace xiokv::host
