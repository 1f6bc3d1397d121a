// SPDX-License-Identifier: MIT
/// @file
/// @brief From an instruction's text to an instruction that runs.
#pragma once

#include <string>

#include "architecture.h"
#include "disassembly.h"
#include "instruction.h"
#include "operands.h"
#include "rewrite.h"
#include "syntax.h"
#include "table.h"

namespace amdgpu {

class Decoder {
public:
  Decoder(Operands &operands, Family family)
      : operands_(operands), family_(family) {}

  /// @brief Decode a line. One that is not known gets a handler that fails,
  /// and `known` is false.
  Instruction decode(const Line &line, bool &known);

private:
  Instruction decode_text(const std::string &text);
  Instruction decode_dual(const std::string &first, const std::string &second);
  void decode_shape(Instruction &i, Shape shape, const Text &text);
  void rewrite(Instruction &i, const Text &text);
  void take_parts(const Text &text, unsigned sources);
  Operand operand(Instruction &i, const Text &text, size_t index);
  void take(Instruction &i, const Text &text, size_t first);
  Operand mask_register(uint16_t index) const;

  // Shapes of more than a target and sources.
  void compare(Instruction &i, const Text &text);
  void conditional(Instruction &i, const Text &text);
  void hardware(Instruction &i, const Text &text);
  void memory(Instruction &i, const Text &text);
  void buffer(Instruction &i, const Text &text);
  void shared(Instruction &i, const Text &text);
  void scalar_load(Instruction &i, const Text &text);
  void cache(Instruction &i, const Text &text);

  Operands &operands_;
  Family family_;
  Rewrite around_; ///< What the text asks for beyond the handler.
  unsigned sources_ = 0;
};

/// @brief Whether a text is one that the machine cannot execute.
struct Unknown {};

/// @brief How far an access goes.
Scope scope_of(Family family, const Text &text, const MemoryForm &form);

/// @brief What a wait waits for, on the counters of an architecture.
Wait wait_of(Family family, const Text &text);

} // namespace amdgpu
