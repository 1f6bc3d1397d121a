// SPDX-License-Identifier: MIT
/// @file
/// @brief A code object ready to run.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <map>
#include <string>
#include <vector>

#include "architecture.h"
#include "elf_file.h"
#include "instruction.h"
#include "kernel.h"
#include "operands.h"

namespace amdgpu {

class Image {
public:
  /// @brief Load, disassemble and decode; throws Refusal.
  Image(const void *elf, size_t size);

  const ElfFile &elf() const { return elf_; }
  Family family() const { return family_; }
  /// @brief By address; the last one fails when it is reached.
  const std::vector<Instruction> &code() const { return code_; }
  /// @brief The index of the instruction at an address; throws Fault.
  uint64_t index_of(uint64_t address) const;
  const Kernel *kernel(const std::string &name) const;
  uint32_t wave() const;
  const std::string &unknown() const { return unknown_; }
  /// @brief Vector registers from v0 on that the code names, and from a0 on.
  unsigned vectors(bool accumulation) const { return used_[accumulation]; }

private:
  void decode(const void *elf, size_t size);
  void find_jumps();
  void note_use(const Instruction &instruction);

  ElfFile elf_;
  Family family_;
  std::map<std::string, Kernel> kernels_;
  Operands operands_;
  std::vector<Instruction> code_;
  std::map<uint64_t, uint64_t> index_;
  std::string unknown_;
  unsigned used_[2] = {0, 0};
};

} // namespace amdgpu
