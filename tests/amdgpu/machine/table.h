// SPDX-License-Identifier: MIT
/// @file
/// @brief The instructions that the machine knows, by name without the suffix
/// of the encoding.
#pragma once

#include <string>
#include <unordered_map>

#include "instruction.h"

namespace amdgpu {

/// @brief How an instruction's text tells what it works on.
enum class Shape : uint8_t {
  ignored,     ///< Nothing that matters.
  plain,       ///< A target, then sources.
  sources,     ///< Sources only.
  carry,       ///< A target, a mask target, then sources.
  accumulate,  ///< A target that is a source, the last one, too.
  conditional, ///< plain; the mask may be left out: vcc.
  compare,     ///< plain; some architectures leave the target out.
  jump,        ///< A distance in dwords.
  link,        ///< A target, then a distance in dwords.
  hardware,    ///< A target, then the name of a register of the hardware.
  message,     ///< A target, if any, then a message's name.
  memory,      ///< flat_, global_, scratch_.
  buffer,      ///< buffer_, for scratch.
  shared,      ///< ds_.
  scalar_load, ///< A target, a base, an offset.
  wait,        ///< Counters.
  cache,       ///< A cache's invalidation or write-back; a scope.
};

struct Entry {
  Handler run = nullptr;
  Shape shape = Shape::plain;
  MemoryForm memory = {};
};

using Table = std::unordered_map<std::string, Entry>;

void add_scalar(Table &table);
void add_scalar_float(Table &table);
void add_scalar_control(Table &table);
void add_vector_integer(Table &table);
void add_vector_wide(Table &table);
void add_vector_packed(Table &table);
void add_vector_compare(Table &table);
void add_vector_float(Table &table);
void add_vector_across(Table &table);
void add_memory(Table &table);
void add_shared(Table &table);
void add_fences(Table &table);

/// @brief All of them.
const Table &all_instructions();

} // namespace amdgpu
