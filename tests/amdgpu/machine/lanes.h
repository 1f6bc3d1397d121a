// SPDX-License-Identifier: MIT
/// @file
/// @brief Makes a vector instruction's handler from a function of one lane.
///
/// The function's parameters say how the operands are read: 64-bit types take
/// two registers, bool takes a lane's bit of a scalar mask. Its result says
/// what is written.
#pragma once

#include <stdint.h>
#include <string.h>

#include <tuple>
#include <utility>

#include "wave.h"

namespace amdgpu {

/// @brief A result with a bit more: a carry.
struct Carried {
  uint32_t value;
  bool carry;
};

/// @brief A 64-bit result with a bit more.
struct Carried64 {
  uint64_t value;
  bool carry;
};

/// @brief Room for a scalar operand, spread over all lanes.
struct Spread {
  Lanes word[2];
};

inline void fill(Lanes &lanes, uint32_t value) {
  for (uint32_t &lane : lanes.lane)
    lane = value;
}

/// @brief What 32 lanes read, as a T.
template <class T> struct View {
  const uint32_t *low;
  const uint32_t *high;

  T operator[](unsigned lane) const {
    T value;
    if constexpr (sizeof(T) == 8) {
      const uint64_t bits = low[lane] | static_cast<uint64_t>(high[lane]) << 32;
      memcpy(&value, &bits, sizeof value);
    } else {
      const uint32_t bits = low[lane];
      memcpy(&value, &bits, sizeof value);
    }
    return value;
  }
};

/// @brief A bit of a mask a lane.
template <> struct View<bool> {
  uint32_t mask;
  bool operator[](unsigned lane) const { return mask >> lane & 1; }
};

/// @brief An operand that lanes read as a T.
template <class T> class Source {
public:
  Source(const Wave &wave, const Operand &operand, Spread &room) {
    if (operand.is(Operand::Kind::vector)) {
      low_ = wave.v[operand.index].lane;
      high_ = wave.v[operand.index + 1].lane;
    } else if (operand.is(Operand::Kind::constant)) {
      low_ = operand.lanes[0].lane;
      high_ = operand.lanes[1].lane;
    } else {
      spread(wave, operand, room);
    }
  }
  View<T> from(unsigned lane) const { return {low_ + lane, high_ + lane}; }

private:
  void spread(const Wave &wave, const Operand &operand, Spread &room) {
    const auto bits = wave.scalar<uint64_t>(operand);
    fill(room.word[0], static_cast<uint32_t>(bits));
    if constexpr (sizeof(T) == 8)
      fill(room.word[1], static_cast<uint32_t>(bits >> 32));
    low_ = room.word[0].lane;
    high_ = room.word[1].lane;
  }

  const uint32_t *low_;
  const uint32_t *high_;
};

template <> class Source<bool> {
public:
  Source(const Wave &wave, const Operand &operand, Spread &)
      : mask_(wave.mask(operand)) {}
  View<bool> from(unsigned lane) const {
    return {static_cast<uint32_t>(mask_ >> lane)};
  }

private:
  uint64_t mask_;
};

/// @brief The new value of a register: `written` where `active` has ones.
inline uint32_t blend(uint32_t old, uint32_t written, uint32_t active) {
  return (written & active) | (old & ~active);
}

/// @brief Bits, one a lane.
class Bits {
public:
  void set(unsigned lane, bool bit) { lane_[lane] = bit; }
  uint64_t mask() const {
    uint64_t mask = 0;
    for (unsigned byte = 0; byte < 8; ++byte) {
      uint64_t eight;
      memcpy(&eight, lane_ + 8 * byte, sizeof eight);
      // Moves the lowest bit of byte i to bit 56 + i.
      mask |= eight * 0x0102040810204080u >> 56 << 8 * byte;
    }
    return mask;
  }

private:
  uint8_t lane_[64] = {};
};

/// @brief Where lanes write an R. `active` is all ones, or 0 for a lane that
/// takes no part.
template <class R> class Target {
public:
  Target(Wave &wave, const Instruction &instruction)
      : low_(wave.v[instruction.target.index].lane),
        high_(wave.v[instruction.target.index + 1].lane) {}

  void set(unsigned lane, uint32_t active, R value) {
    if constexpr (sizeof(R) == 8) {
      uint64_t bits;
      memcpy(&bits, &value, sizeof bits);
      low_[lane] = blend(low_[lane], static_cast<uint32_t>(bits), active);
      high_[lane] =
          blend(high_[lane], static_cast<uint32_t>(bits >> 32), active);
    } else {
      uint32_t bits;
      memcpy(&bits, &value, sizeof bits);
      low_[lane] = blend(low_[lane], bits, active);
    }
  }
  void finish(Wave &, uint64_t) {}

private:
  uint32_t *low_;
  uint32_t *high_;
};

/// @brief Half a register, whose other half stays or becomes 0.
template <> class Target<uint16_t> {
public:
  Target(Wave &wave, const Instruction &instruction)
      : lanes_(wave.v[instruction.target.index].lane),
        kept_(instruction.keep_high ? 0xffff0000u : 0) {}
  void set(unsigned lane, uint32_t active, uint16_t value) {
    lanes_[lane] = blend(lanes_[lane], (lanes_[lane] & kept_) | value, active);
  }
  void finish(Wave &, uint64_t) {}

private:
  uint32_t *lanes_;
  uint32_t kept_;
};

/// @brief Masks: the lanes that do not take part get 0.
template <> class Target<bool> {
public:
  Target(Wave &, const Instruction &instruction) : instruction_(instruction) {}
  void set(unsigned lane, uint32_t, bool bit) { bits_.set(lane, bit); }
  void finish(Wave &wave, uint64_t active) {
    wave.set_mask(instruction_.target, bits_.mask() & active);
    wave.set_mask(instruction_.target2, bits_.mask() & active);
  }

private:
  const Instruction &instruction_;
  Bits bits_;
};

/// @brief A register and a mask.
template <class R, class Value> class WithCarry {
public:
  WithCarry(Wave &wave, const Instruction &instruction)
      : target_(wave, instruction), carry_(instruction.target2) {}
  void set(unsigned lane, uint32_t active, R result) {
    target_.set(lane, active, result.value);
    bits_.set(lane, result.carry);
  }
  void finish(Wave &wave, uint64_t active) {
    wave.set_mask(carry_, bits_.mask() & active);
  }

private:
  Target<Value> target_;
  const Operand &carry_;
  Bits bits_;
};
template <> class Target<Carried> : public WithCarry<Carried, uint32_t> {
  using WithCarry::WithCarry;
};
template <> class Target<Carried64> : public WithCarry<Carried64, uint64_t> {
  using WithCarry::WithCarry;
};

template <class R, class... A> struct Signature {
  template <R (*function)(A...), size_t... n>
  static void run(Wave &wave, const Instruction &instruction,
                  std::index_sequence<n...>) {
    Spread room[sizeof...(A)];
    const std::tuple<Source<A>...> from{
        Source<A>(wave, instruction.source[n], room[n])...};
    Target<R> to(wave, instruction);
    const uint64_t active = wave.exec();
    for (unsigned first = 0; first < wave.width; first += 32) {
      const uint32_t half = static_cast<uint32_t>(active >> first);
      const std::tuple<View<A>...> view{std::get<n>(from).from(first)...};
#pragma GCC ivdep
      for (unsigned i = 0; i < 32; ++i)
        to.set(first + i, 0 - (half >> i & 1),
               function(std::get<n>(view)[i]...));
    }
    to.finish(wave, active);
  }

  template <R (*function)(A...)>
  static void each(Wave &wave, const Instruction &instruction) {
    run<function>(wave, instruction, std::index_sequence_for<A...>{});
  }
};

template <class R, class... A> Signature<R, A...> signature_of(R (*)(A...)) {
  return {};
}

/// @brief The handler that runs a function of one lane on all that take part.
template <auto function>
void vector(Wave &wave, const Instruction &instruction) {
  decltype(signature_of(function))::template each<function>(wave, instruction);
}

} // namespace amdgpu
