// SPDX-License-Identifier: MIT
#include "image.h"

#include <stdio.h>

#include <algorithm>

#include "decoder.h"
#include "error.h"
#include "rewrite.h"

namespace amdgpu {

namespace {

void fail_outside(Wave &, const Instruction &) {
  throw Fault("the wave ran out of the code");
}

bool jumps(const Instruction &instruction) {
  const std::string &text = instruction.text;
  return text.compare(0, 8, "s_branch") == 0 ||
         text.compare(0, 9, "s_cbranch") == 0 ||
         text.compare(0, 6, "s_call") == 0;
}

} // namespace

Image::Image(const void *elf, size_t size)
    : elf_(elf, size), family_(family_of(elf_.target())),
      kernels_(read_kernels(elf_)) {
  decode(elf, size);
  find_jumps();
}

void Image::decode(const void *elf, size_t size) {
  Decoder decoder(operands_, family_);
  for (const Line &line : disassemble(elf, size)) {
    bool known;
    index_[line.address] = code_.size();
    code_.push_back(decoder.decode(line, known));
    note_use(code_.back());
    if (known)
      continue;
    char address[32];
    snprintf(address, sizeof address,
             "0x%llx: ", static_cast<unsigned long long>(line.address));
    unknown_ += address + line.text + "\n";
  }
  Instruction outside;
  outside.run = fail_outside;
  outside.text = "no instruction";
  code_.push_back(std::move(outside));
}

void Image::note_use(const Instruction &instruction) {
  for (const Touched &touched : instruction.touched) {
    if (!touched.vector)
      continue;
    const bool accumulation = touched.index >= register_accumulation;
    const unsigned first = accumulation ? register_accumulation : 0;
    const unsigned end = touched.index + touched.words - first;
    used_[accumulation] = std::max(used_[accumulation], end);
  }
  // A place of the group is in v0 whether or not the code looks at it.
  used_[0] = std::max(used_[0], 1u);
}

/// Distances in dwords, of 16 bits, become indices of instructions.
void Image::find_jumps() {
  for (Instruction &instruction : code_) {
    if (!jumps(instruction))
      continue;
    const int64_t distance = static_cast<int16_t>(instruction.immediate);
    const uint64_t to = instruction.address + instruction.bytes +
                        static_cast<uint64_t>(4 * distance);
    const auto found = index_.find(to);
    instruction.immediate = static_cast<int64_t>(
        found == index_.end() ? code_.size() - 1 : found->second);
  }
}

uint64_t Image::index_of(uint64_t address) const {
  const auto found = index_.find(address);
  if (found == index_.end())
    throw Fault("a jump to where no instruction is");
  return found->second;
}

const Kernel *Image::kernel(const std::string &name) const {
  const auto found = kernels_.find(name);
  return found == kernels_.end() ? nullptr : &found->second;
}

uint32_t Image::wave() const {
  if (!kernels_.empty())
    return kernels_.begin()->second.wave();
  return is_cdna(family_) ? 64 : 32;
}

} // namespace amdgpu
