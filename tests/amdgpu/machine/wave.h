// SPDX-License-Identifier: MIT
/// @file
/// @brief A wave: its registers and where it is.
#pragma once

#include <stdint.h>

#include <vector>

#include "error.h"
#include "instruction.h"

namespace amdgpu {

class Run;
struct Group;
struct Lot;

enum class State : uint8_t { ready, barrier, ended };

class Wave {
public:
  uint32_t s[scalar_registers + 1] = {}; ///< One more, to read pairs.
  bool scc = false;
  uint32_t width = 64; ///< Lanes: 32 or 64.
  uint32_t index = 0;  ///< In its group.
  State state = State::ready;
  bool pausing = false;  ///< Let others go first, once.
  uint64_t pc = 0;       ///< Index of the next instruction.
  uint64_t executed = 0; ///< Instructions so far.
  uint64_t barriers = 0; ///< Barriers that it has signalled.
  Group *group = nullptr;
  Run *run = nullptr;
  Lot *lot = nullptr;           ///< Its part of a weak memory.
  std::vector<uint8_t> scratch; ///< Of its lanes, one after another.
  uint32_t lane_scratch = 0;    ///< Bytes of one lane.
  Lanes v[vector_registers];

  uint64_t exec() const { return mask_at(register_exec); }
  void set_exec(uint64_t mask) { set_mask_at(register_exec, mask); }

  /// @brief A scalar operand. Null and `off` are 0.
  template <class T> T scalar(const Operand &operand) const {
    uint64_t bits = operand.value;
    if (operand.is(Operand::Kind::scalar))
      bits = sizeof(T) == 8 ? pair(operand.index) : s[operand.index];
    else if (operand.is(Operand::Kind::vector))
      throw Fault("a vector register where a scalar one is needed");
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
  }

  /// @brief Write a scalar register or a pair. Null takes nothing.
  template <class T> void set_scalar(const Operand &operand, T value) {
    if (!operand.is(Operand::Kind::scalar))
      return;
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    s[operand.index] = static_cast<uint32_t>(bits);
    if (sizeof value == 8)
      s[operand.index + 1] = static_cast<uint32_t>(bits >> 32);
  }

  /// @brief An operand with a bit for each lane.
  uint64_t mask(const Operand &operand) const {
    return operand.is(Operand::Kind::scalar) ? mask_at(operand.index)
                                             : operand.value;
  }
  void set_mask(const Operand &operand, uint64_t mask) {
    if (operand.is(Operand::Kind::scalar))
      set_mask_at(operand.index, mask);
  }

private:
  uint64_t pair(unsigned index) const {
    return s[index] | static_cast<uint64_t>(s[index + 1]) << 32;
  }
  uint64_t mask_at(unsigned index) const {
    return width == 64 ? pair(index) : s[index];
  }
  void set_mask_at(unsigned index, uint64_t mask) {
    s[index] = static_cast<uint32_t>(mask);
    if (width == 64)
      s[index + 1] = static_cast<uint32_t>(mask >> 32);
  }
};

} // namespace amdgpu
