// SPDX-License-Identifier: MIT
/// @file
/// @brief Repeatable random numbers.
#pragma once

#include <cstdint>
#include <random>

namespace xiokv::emulator {

/// @brief The same numbers for the same seed and stream on every machine.
class Random {
public:
  Random(uint64_t seed, uint64_t stream)
      : engine_(seed ^ (stream + 1) * UINT64_C(0x9e3779b97f4a7c15)) {}

  /// @brief A number below `bound`, which is not 0.
  uint64_t below(uint64_t bound) { return engine_() % bound; }

private:
  std::mt19937_64 engine_;
};

} // namespace xiokv::emulator
