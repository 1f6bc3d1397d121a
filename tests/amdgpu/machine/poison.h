// SPDX-License-Identifier: MIT
/// @file
/// @brief Registers that a load has not filled yet, as far as a wave can know:
/// until it waits. To touch one fails the run.
#pragma once

#include <stdint.h>

#include "instruction.h"

namespace amdgpu {

class Poison {
public:
  /// @brief An instruction's target waits for a counter (more: +1), or has
  /// waited (-1).
  void change(const Instruction &instruction, Counter counter, int more);

  /// @brief Whether an instruction touches what it must not.
  bool touches(const Instruction &instruction) const;

private:
  struct Open {
    uint8_t load = 0;  ///< Operations that the load counter counts.
    uint8_t other = 0; ///< Operations that any other one counts.
  };
  bool touches(const Touched &touched, const Instruction &instruction) const;

  int total_ = 0;
  Open vector_[vector_registers];
  Open scalar_[scalar_registers];
};

} // namespace amdgpu
