// SPDX-License-Identifier: MIT
/// @file
/// @brief What memory is to the waves of a run: an order of accesses.
#pragma once

#include <stdint.h>

#include "access.h"
#include "random.h"

namespace amdgpu {

/// @brief Which copies an invalidation forgets, in Instruction.immediate.
enum Forget : int64_t { forget_near = 1, forget_far = 2 };

class Memory {
public:
  virtual ~Memory() = default;

  /// @brief Before a wave runs an instruction.
  virtual void before(Wave &wave, const Instruction &instruction) = 0;
  /// @brief flat_, global_, scratch_ and ds_ instructions.
  virtual void access(const Access &access) = 0;
  /// @brief s_load.
  virtual void scalar_load(Wave &wave, const Instruction &instruction,
                           uint64_t address) = 0;
  /// @brief A number that comes into a scalar register as a load's would.
  virtual void scalar_result(Wave &wave, const Instruction &instruction,
                             uint64_t value) = 0;
  virtual void wait(Wave &wave, const Instruction &instruction) = 0;
  virtual void invalidate(Wave &wave, const Instruction &instruction) = 0;
  virtual void write_back(Wave &wave, const Instruction &instruction) = 0;
  virtual void end(Wave &wave) = 0;
  /// @brief Something of what is open happens.
  virtual void event() = 0;
  /// @brief Whether an event can happen.
  virtual bool open() const = 0;
};

} // namespace amdgpu
