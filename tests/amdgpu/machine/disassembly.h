// SPDX-License-Identifier: MIT
/// @file
/// @brief A code object's instructions as text, from llvm-objdump.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

namespace amdgpu {

struct Line {
  uint64_t address; ///< In the image.
  uint32_t bytes;   ///< Of the instruction.
  std::string text; ///< "v_add_u32_e32 v0, v1, v2".
};

/// @brief Disassemble; throws Refusal where no disassembler runs.
std::vector<Line> disassemble(const void *elf, size_t size);

} // namespace amdgpu
