// SPDX-License-Identifier: MIT
/// @file
/// @brief An instruction made ready to run: its handler and its operands.
#pragma once

#include <stdint.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace amdgpu {

class Wave;
struct Instruction;
struct Rewrite;

using Handler = void (*)(Wave &wave, const Instruction &instruction);

/// @brief A vector register, or a value that every lane has.
struct Lanes {
  alignas(64) uint32_t lane[64];
};

/// @brief Numbers of scalar registers that have names of their own.
enum ScalarRegister : uint16_t {
  register_flat_scratch = 102,
  register_vcc = 106,
  register_ttmp = 108,
  register_m0 = 125,
  register_exec = 126,
  scalar_registers = 128,
};

/// @brief Numbers of vector registers: v0 is 0, a0 is 256, then those that
/// only the machine uses.
enum VectorRegister : uint16_t {
  register_accumulation = 256,
  register_spare = 512,
  vector_registers = 520,
};

struct Operand {
  enum class Kind : uint8_t { none, vector, scalar, constant };

  Kind kind = Kind::none;
  uint8_t words = 0;            ///< Registers.
  uint16_t index = 0;           ///< The first of them.
  uint64_t value = 0;           ///< Of a constant.
  const Lanes *lanes = nullptr; ///< Its low and high dword for every lane.

  bool is(Kind what) const { return kind == what; }
};

/// @brief What a memory instruction reaches.
enum class Space : uint8_t { global, flat, lds, scratch };

/// @brief How far an access goes: a larger one passes by more caches.
enum class Scope : uint8_t { wave, group, device, system };

enum class Atomic : uint8_t {
  none,
  add,
  sub,
  reverse_sub,
  and_,
  or_,
  xor_,
  swap,
  compare_swap,
  min_signed,
  min_unsigned,
  max_signed,
  max_unsigned,
  increment,
  decrement,
};

/// @brief The form of a memory instruction.
struct MemoryForm {
  Space space = Space::global;
  Scope scope = Scope::wave;
  Atomic atomic = Atomic::none;
  bool store = false;
  bool returns = false;       ///< Writes registers, when its wait is over.
  bool is_signed = false;     ///< Of a load of less than a dword.
  bool high_half = false;     ///< A 16-bit access of the register's upper half.
  bool keep_other = false;    ///< A 16-bit load leaves the other half.
  bool compare_first = false; ///< Of a compare-and-swap's two data.
  uint8_t bytes = 4;          ///< Of a lane, of one part.
  uint8_t parts = 1;          ///< Places a lane: two for ds_read2 and such.
  int32_t offset[2] = {0, 0};
};

/// @brief The counters that a wave waits on. An architecture that lacks one
/// counts its operations on another.
enum Counter : uint8_t {
  counter_load,
  counter_store,
  counter_lds,
  counter_scalar,
  counters
};

/// @brief The most operations that may be open when a wait is over.
using Wait = std::array<uint8_t, counters>;
constexpr uint8_t no_wait = 255;

/// @brief Registers that an instruction names.
struct Touched {
  bool vector;
  uint16_t index;
  uint16_t words;
};

struct Instruction {
  Handler run = nullptr;
  Operand target;
  Operand target2; ///< Carries out of an addition; the mask of a comparison.
  Operand source[4];
  int64_t immediate = 0; ///< Of branches: the index of the next instruction.
  MemoryForm memory;
  Wait wait = {no_wait, no_wait, no_wait, no_wait};
  std::shared_ptr<const Rewrite> rewrite; ///< For handlers that run another.
  std::vector<Touched> touched;
  uint64_t address = 0; ///< In the image.
  uint32_t bytes = 0;
  bool keep_high = false; ///< A 16-bit result leaves the upper half.
  std::string text;
};

} // namespace amdgpu
