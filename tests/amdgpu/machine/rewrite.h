// SPDX-License-Identifier: MIT
/// @file
/// @brief Instructions that are another one with something around it: two in
/// one, parts of registers, values of other lanes, signs.
#pragma once

#include <stdint.h>

#include <optional>
#include <vector>

#include "instruction.h"
#include "syntax.h"

namespace amdgpu {

/// @brief A part of a register.
struct Part {
  uint8_t shift = 0;
  uint8_t bits = 32;
};

/// @brief What is done to a source before it is used.
struct Change {
  Part part;
  bool sign_extended = false;
  bool absolute = false;
  bool negative = false;

  bool any() const { return part.bits != 32 || absolute || negative; }
};

/// @brief The lane whose value each lane takes: DPP.
struct Movement {
  int8_t from[64];    ///< -1: none.
  uint64_t writes;    ///< Lanes that may be written.
  bool zero_for_none; ///< Those with no source take 0, and are written.
};

/// @brief What becomes of the rest of a target of which a part is written.
enum class Rest : uint8_t { zero, sign, kept };

struct Rewrite {
  std::vector<Instruction> inner; ///< One, or the two of a dual instruction.
  Change change[3];
  std::optional<Movement> movement; ///< Of the first source.
  Part target;
  Rest rest = Rest::zero;
};

/// @brief The handler of a dual instruction: both read, then both write.
void run_dual(Wave &wave, const Instruction &instruction);

/// @brief The handler of all others.
void run_rewritten(Wave &wave, const Instruction &instruction);

/// @brief Read a source's signs and sext(), and take them off the text.
Change take_change(std::string &operand);

/// @brief A part by its name: "BYTE_2", "WORD_1", "DWORD".
std::optional<Part> part_named(const std::string &name);

/// @brief Whether an instruction takes values of other lanes.
bool has_movement(const Text &text);

/// @brief The movement that modifiers ask for; nothing: none that is known.
std::optional<Movement> movement_of(const Text &text);

} // namespace amdgpu
