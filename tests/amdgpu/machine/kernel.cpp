// SPDX-License-Identifier: MIT
#include "kernel.h"

#include <string.h>

#include "architecture.h"
#include "error.h"

namespace amdgpu {

namespace {

/// The kernel descriptor of the HSA ABI.
struct Descriptor {
  uint32_t lds_bytes;
  uint32_t scratch_bytes;
  uint32_t argument_bytes;
  uint8_t reserved0[4];
  int64_t entry; ///< From the descriptor's start.
  uint8_t reserved1[20];
  uint32_t resources3;
  uint32_t resources1;
  uint32_t resources2;
  uint16_t properties;
  uint16_t preload;
  uint8_t reserved2[4];
};
static_assert(sizeof(Descriptor) == 64, "the ABI says 64 bytes");

/// A kernel that takes preloaded arguments begins with code for firmware that
/// does not preload; firmware that does skips it.
constexpr uint64_t preload_prologue_bytes = 256;

/// Scratch of a lane where no one knows how deep calls will go.
constexpr uint32_t stack_bytes = 16384;

/// Whether a group's waves need not share a compute unit.
bool is_spread(const Descriptor &descriptor, Family family) {
  return is_cdna(family) ? descriptor.resources3 >> 16 & 1  // TG_SPLIT
                         : descriptor.resources1 >> 29 & 1; // WGP_MODE
}

Kernel from_descriptor(const Descriptor &descriptor, uint64_t at) {
  Kernel kernel{};
  kernel.entry = at + static_cast<uint64_t>(descriptor.entry);
  kernel.lds_bytes = descriptor.lds_bytes;
  kernel.scratch_bytes = descriptor.scratch_bytes;
  kernel.argument_bytes = descriptor.argument_bytes;
  kernel.user_registers = descriptor.resources2 >> 1 & 31;
  kernel.properties = descriptor.properties;
  kernel.preload_words = descriptor.preload & 0x7f;
  kernel.preload_offset = descriptor.preload >> 7;
  for (unsigned axis = 0; axis < 3; ++axis)
    kernel.group_id[axis] = descriptor.resources2 >> (7 + axis) & 1;
  kernel.private_offset = descriptor.resources2 & 1;
  if (kernel.properties & property_dynamic_stack)
    kernel.scratch_bytes += stack_bytes;
  if (kernel.preload_words > 0)
    kernel.entry += preload_prologue_bytes;
  return kernel;
}

std::vector<Argument> read_arguments(const Value &metadata) {
  std::vector<Argument> arguments;
  const auto found = metadata.members.find(".args");
  if (found != metadata.members.end())
    for (const Value &argument : found->second.list)
      arguments.push_back({static_cast<uint32_t>(argument.at(".offset").number),
                           static_cast<uint32_t>(argument.at(".size").number),
                           argument.at(".value_kind").text});
  return arguments;
}

} // namespace

std::map<std::string, Kernel> read_kernels(const ElfFile &elf) {
  std::map<std::string, Kernel> kernels;
  for (const Value &metadata : elf.metadata().at("amdhsa.kernels").list) {
    const std::string &name = metadata.at(".name").text;
    const auto symbol = elf.symbols().find(metadata.at(".symbol").text);
    if (symbol == elf.symbols().end() ||
        symbol->second.offset > elf.size() - sizeof(Descriptor))
      throw Refusal("the kernel " + name + " has no descriptor");
    Descriptor descriptor;
    memcpy(&descriptor, elf.base() + symbol->second.offset, sizeof descriptor);
    Kernel kernel = from_descriptor(descriptor, symbol->second.offset);
    kernel.is_spread = is_spread(descriptor, family_of(elf.target()));
    kernel.largest_group = static_cast<uint32_t>(
        metadata.number_or(".max_flat_workgroup_size", 1024));
    kernel.arguments = read_arguments(metadata);
    kernels[name] = std::move(kernel);
  }
  return kernels;
}

} // namespace amdgpu
