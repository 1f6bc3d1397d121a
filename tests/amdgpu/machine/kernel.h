// SPDX-License-Identifier: MIT
/// @file
/// @brief What a launch needs to know of a kernel: its descriptor and the
/// layout of its arguments.
#pragma once

#include <stdint.h>

#include <map>
#include <string>
#include <vector>

#include "elf_file.h"

namespace amdgpu {

struct Argument {
  uint32_t offset;
  uint32_t size;
  std::string kind; ///< "by_value", "global_buffer", "hidden_block_count_x".

  bool hidden() const { return kind.rfind("hidden_", 0) == 0; }
};

/// @brief Bits of Kernel.properties: what the first scalar registers hold.
enum KernelProperty : uint32_t {
  property_private_buffer = 1 << 0,
  property_dispatch_packet = 1 << 1,
  property_queue = 1 << 2,
  property_arguments = 1 << 3,
  property_dispatch_id = 1 << 4,
  property_flat_scratch = 1 << 5,
  property_private_size = 1 << 6,
  property_wave32 = 1 << 10,
  property_dynamic_stack = 1 << 11,
};

struct Kernel {
  uint64_t entry; ///< Of its first instruction, in the image.
  uint32_t lds_bytes;
  uint32_t scratch_bytes;  ///< Of a lane.
  uint32_t argument_bytes; ///< With the hidden ones.
  uint32_t user_registers; ///< Scalar registers that a launch fills.
  uint32_t properties;     ///< Bits of KernelProperty.
  uint32_t preload_words;  ///< Of the arguments, into scalar registers.
  uint32_t preload_offset; ///< First of them, in dwords.
  uint32_t largest_group;  ///< Lanes.
  bool group_id[3];        ///< Whether it gets its group's x, y, z.
  bool private_offset;     ///< Whether it gets its wave's scratch offset.
  bool is_spread;          ///< A group's waves lie on several compute units.
  std::vector<Argument> arguments;

  uint32_t wave() const { return properties & property_wave32 ? 32 : 64; }
};

/// @brief The kernels of a code object by name; throws Refusal.
std::map<std::string, Kernel> read_kernels(const ElfFile &elf);

} // namespace amdgpu
