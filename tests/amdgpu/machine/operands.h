// SPDX-License-Identifier: MIT
/// @file
/// @brief From an operand's text to the registers or the constant it means.
#pragma once

#include <stdint.h>

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "instruction.h"

namespace amdgpu {

/// @brief Flat addresses of LDS and of a lane's scratch, which no address of
/// the process is near.
constexpr uint64_t lds_aperture = uint64_t(1) << 48;
constexpr uint64_t scratch_aperture = uint64_t(2) << 48;
constexpr uint64_t aperture_bytes = uint64_t(1) << 32;

/// @brief Reads operands, and owns the constants among them.
class Operands {
public:
  /// @brief Read an operand of the instruction `name`, whose types tell how a
  /// number is meant; nothing where the text is no operand that is known.
  std::optional<Operand> parse(const std::string &text,
                               const std::string &name);

  /// @brief A constant; its upper dword is for operands of 64 bits.
  Operand constant(uint64_t value);

private:
  std::map<uint64_t, Operand> known_;
  std::deque<std::array<Lanes, 2>> lanes_; ///< Low and high dwords.
};

} // namespace amdgpu
