// SPDX-License-Identifier: MIT
/// @file
/// @brief The parts of an instruction's text.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace amdgpu {

struct Text {
  std::string name;                  ///< "v_and_b32_sdwa".
  std::vector<std::string> operands; ///< "v[2:3]", "-|v1|", "0x10".
  /// "offset" -> "16"; a word that stands alone, as "glc", -> "".
  std::map<std::string, std::string> modifiers;

  bool has(const std::string &modifier) const {
    return modifiers.count(modifier) != 0;
  }
  /// @brief A modifier's number; `otherwise` where it is not there.
  long number(const std::string &modifier, long otherwise = 0) const;
};

/// @brief Take an instruction apart.
Text parse_text(const std::string &text);

/// @brief An instruction's name without what tells its encoding.
std::string plain_name(std::string name);

} // namespace amdgpu
