// SPDX-License-Identifier: MIT
#include "poison.h"

namespace amdgpu {

namespace {

/// Loads of memory come back in order, so that one may follow another into the
/// same register without a wait.
bool follows_in_order(const Touched &touched, const Instruction &instruction) {
  const MemoryForm &form = instruction.memory;
  return form.returns && touched.vector &&
         touched.index == instruction.target.index &&
         (form.space == Space::global || form.space == Space::scratch);
}

} // namespace

void Poison::change(const Instruction &instruction, Counter counter, int more) {
  const Operand &target = instruction.target;
  Open *file = target.is(Operand::Kind::vector) ? vector_ : scalar_;
  for (unsigned i = 0; i < target.words; ++i) {
    Open &open = file[target.index + i];
    uint8_t &count = counter == counter_load ? open.load : open.other;
    count = static_cast<uint8_t>(count + more);
    total_ += more;
  }
}

bool Poison::touches(const Instruction &instruction) const {
  if (total_ == 0)
    return false;
  for (const Touched &touched : instruction.touched)
    if (touches(touched, instruction))
      return true;
  return false;
}

bool Poison::touches(const Touched &touched,
                     const Instruction &instruction) const {
  const Open *file = touched.vector ? vector_ : scalar_;
  for (unsigned i = 0; i < touched.words; ++i) {
    const Open &open = file[touched.index + i];
    if (open.other > 0 ||
        (open.load > 0 && !follows_in_order(touched, instruction)))
      return true;
  }
  return false;
}

} // namespace amdgpu
