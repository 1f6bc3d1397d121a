// SPDX-License-Identifier: MIT
/// @file
/// @brief The controller's configuration: defaults filled in, limits checked.
#pragma once

#include <cstdint>
#include <string>

#include "emulator.h"

namespace xiokv::emulator {

/// @brief Longest key that an SQE holds.
constexpr uint32_t key_bytes = 16;
/// @brief The PRP page, and the unit of MDTS.
constexpr uint32_t page_bytes = 4096;
/// @brief A line of a cache: what one thread writes keeps off those of others.
constexpr uint32_t line_bytes = 64;
/// @brief The only namespace.
constexpr uint32_t namespace_id = 1;

/// @brief A configuration that is complete and within its limits.
struct Config : xiokv_emu_config {
  bool has(xiokv_emu_flags flag) const { return (flags & flag) != 0; }

  /// @brief Largest transfer of a command in bytes.
  uint64_t transfer_max() const {
    return mdts == 0 ? UINT64_MAX : static_cast<uint64_t>(page_bytes) << mdts;
  }

  /// @brief Longest key that commands take.
  uint32_t key_limit() const {
    return key_max < key_bytes ? key_max : key_bytes;
  }
};

/// @brief Fill in the defaults.
/// @param error Set to the reason where the configuration is refused.
/// @return Whether the configuration is allowed.
bool complete(const xiokv_emu_config &given, Config &config,
              std::string &error);

} // namespace xiokv::emulator
