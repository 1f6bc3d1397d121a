// SPDX-License-Identifier: MIT
/// @file
/// @brief One memory instruction of a wave, its addresses known.
#pragma once

#include <stdint.h>

#include <type_traits>

#include "wave.h"

namespace amdgpu {

struct Access {
  Wave &wave;
  const Instruction &instruction;
  uint64_t lanes;       ///< Who takes part.
  uint64_t address[64]; ///< Of each lane's first part.
  const Lanes *values[4] = {};

  Access(Wave &from, const Instruction &what)
      : wave(from), instruction(what), lanes(from.exec()) {
    bind();
  }

  const MemoryForm &form() const { return instruction.memory; }

  /// @brief Where a part of a lane's access is.
  uint64_t place(unsigned lane, unsigned part) const {
    return address[lane] +
           static_cast<uint64_t>(static_cast<int64_t>(form().offset[part]));
  }
  /// @brief Dwords of a part.
  unsigned words() const { return (form().bytes + 3u) / 4; }

  /// @brief Where the words are that lanes store, or that an atomic takes: of
  /// all parts, or of both data of a compare-and-swap.
  void bind() {
    const Operand *source = instruction.source;
    const bool two =
        form().space == Space::lds && source[2].is(Operand::Kind::vector);
    for (unsigned which = 0; which < 4; ++which) {
      const bool second = two && which >= words();
      const unsigned word = second ? which - words() : which;
      values[which] = &wave.v[source[second ? 2 : 1].index + word];
    }
  }

  uint32_t data(unsigned lane, unsigned which) const {
    const uint32_t value = values[which]->lane[lane];
    return form().high_half ? value >> 16 : value;
  }
  uint64_t data64(unsigned lane, unsigned which) const {
    return data(lane, which) | static_cast<uint64_t>(data(lane, which + 1))
                                   << 32;
  }

  /// @brief Write a dword that was loaded into its register; of a shorter
  /// access, as the form says.
  void deliver(unsigned lane, unsigned which, uint32_t value) const {
    uint32_t &to = wave.v[instruction.target.index + which].lane[lane];
    if (form().bytes < 4)
      value = extended(value);
    if (!form().keep_other)
      to = value;
    else if (form().high_half)
      to = (to & 0xffff) | value << 16;
    else
      to = (to & ~0xffffu) | (value & 0xffff);
  }

private:
  uint32_t extended(uint32_t value) const {
    const unsigned unused = 32 - 8 * form().bytes;
    const uint32_t moved = value << unused;
    return form().is_signed
               ? static_cast<uint32_t>(static_cast<int32_t>(moved) >> unused)
               : moved >> unused;
  }
};

/// @brief What an atomic leaves in memory, of T, an unsigned type.
template <class T> T combine(Atomic operation, T old, T value, T compared) {
  using Signed = std::make_signed_t<T>;
  const bool below = static_cast<Signed>(old) < static_cast<Signed>(value);
  switch (operation) {
  case Atomic::add:
    return old + value;
  case Atomic::sub:
    return old - value;
  case Atomic::reverse_sub:
    return value - old;
  case Atomic::and_:
    return old & value;
  case Atomic::or_:
    return old | value;
  case Atomic::xor_:
    return old ^ value;
  case Atomic::swap:
    return value;
  case Atomic::compare_swap:
    return old == compared ? value : old;
  case Atomic::min_signed:
    return below ? old : value;
  case Atomic::max_signed:
    return below ? value : old;
  case Atomic::min_unsigned:
    return old < value ? old : value;
  case Atomic::max_unsigned:
    return old < value ? value : old;
  case Atomic::increment:
    return old >= value ? 0 : old + 1;
  case Atomic::decrement:
    return old == 0 || old > value ? value : old - 1;
  case Atomic::none:
    break;
  }
  throw Fault("no such atomic operation");
}

} // namespace amdgpu
