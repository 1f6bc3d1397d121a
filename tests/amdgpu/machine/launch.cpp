// SPDX-License-Identifier: MIT
/// @file
/// @brief What a kernel finds when it begins: arguments and registers.
#include <string.h>

#include <algorithm>

#include "error.h"
#include "lanes.h"
#include "run.h"

namespace amdgpu {

namespace {

/// Scalar registers that gfx12 has a group's place in.
constexpr unsigned group_x_register = register_ttmp + 9;
constexpr unsigned group_yz_register = register_ttmp + 7;

uint32_t lanes_of(const Request &request) {
  return request.lanes[0] * request.lanes[1] * request.lanes[2];
}

uint32_t dimensions(const Request &request) {
  for (uint32_t axis = 2; axis > 0; --axis)
    if (request.groups[axis] * request.lanes[axis] > 1)
      return axis + 1;
  return 1;
}

/// The value of a hidden argument; throws Refusal where there is none.
uint64_t hidden_value(const Request &request, const std::string &kind) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    const char name = static_cast<char>('x' + axis);
    if (kind == std::string("hidden_block_count_") + name)
      return request.groups[axis];
    if (kind == std::string("hidden_group_size_") + name)
      return request.lanes[axis];
    // Groups are whole, and grids begin at 0.
    if (kind == std::string("hidden_remainder_") + name ||
        kind == std::string("hidden_global_offset_") + name)
      return 0;
  }
  if (kind == "hidden_grid_dims")
    return dimensions(request);
  if (kind == "hidden_dynamic_lds_size")
    return request.options.dynamic_lds;
  if (kind == "hidden_shared_base")
    return lds_aperture >> 32;
  if (kind == "hidden_private_base")
    return scratch_aperture >> 32;
  if (kind == "hidden_none")
    return 0;
  throw Refusal("the kernel asks for " + kind + ", which is not provided here");
}

/// Fills scalar registers one after another.
class ScalarWriter {
public:
  explicit ScalarWriter(Wave &wave) : wave_(wave) {}
  void word(uint32_t value) { wave_.s[at_++] = value; }
  void pair(uint64_t value) {
    word(static_cast<uint32_t>(value));
    word(static_cast<uint32_t>(value >> 32));
  }
  void pointer(const void *to) { pair(reinterpret_cast<uint64_t>(to)); }
  void skip_to(unsigned at) { at_ = std::max(at_, at); }

private:
  Wave &wave_;
  unsigned at_ = 0;
};

void fill_user_registers(ScalarWriter &to, const Request &request,
                         const std::vector<uint64_t> &packet) {
  const Kernel &kernel = *request.kernel;
  if (kernel.properties & property_private_buffer) {
    to.pair(0);
    to.pair(0);
  }
  if (kernel.properties & property_dispatch_packet)
    to.pointer(packet.data());
  if (kernel.properties & property_queue)
    to.pointer(packet.data() + 8);
  if (kernel.properties & property_arguments)
    to.pointer(request.arguments.data());
  if (kernel.properties & property_dispatch_id)
    to.pair(0);
  if (kernel.properties & property_flat_scratch)
    to.pair(0);
  if (kernel.properties & property_private_size)
    to.word(kernel.scratch_bytes);
  for (uint32_t i = 0; i < kernel.preload_words; ++i) {
    uint32_t word;
    memcpy(&word, request.arguments.data() + 4 * (kernel.preload_offset + i),
           sizeof word);
    to.word(word);
  }
  to.skip_to(kernel.user_registers);
}

void fill_scalars(Wave &wave, Run &run, const std::vector<uint64_t> &packet) {
  const Kernel &kernel = *run.request().kernel;
  const Group &group = *wave.group;
  ScalarWriter to(wave);
  fill_user_registers(to, run.request(), packet);
  if (run.image().family() == Family::rdna4) {
    wave.s[group_x_register] = group.id[0];
    wave.s[group_yz_register] = group.id[1] | group.id[2] << 16;
  } else {
    for (unsigned axis = 0; axis < 3; ++axis)
      if (kernel.group_id[axis])
        to.word(group.id[axis]);
  }
  if (kernel.private_offset)
    to.word(0);
}

/// v0 has a lane's place in its group, ten bits an axis.
void fill_places(Wave &wave, const Request &request) {
  uint64_t exec = 0;
  for (uint32_t i = 0; i < wave.width; ++i) {
    const uint32_t place = wave.index * wave.width + i;
    if (place >= lanes_of(request))
      break;
    exec |= uint64_t(1) << i;
    const uint32_t x = place % request.lanes[0];
    const uint32_t y = place / request.lanes[0] % request.lanes[1];
    const uint32_t z = place / request.lanes[0] / request.lanes[1];
    wave.v[0].lane[i] = x | y << 10 | z << 20;
  }
  wave.set_exec(exec);
}

/// Registers begin with what was there before: anything.
void fill_with_anything(Wave &wave, Run &run) {
  for (uint32_t &word : wave.s)
    word = static_cast<uint32_t>(run.random().next());
  for (bool accumulation : {false, true})
    for (unsigned i = 0; i < run.image().vectors(accumulation); ++i)
      fill(wave.v[i + (accumulation ? register_accumulation : 0)],
           static_cast<uint32_t>(run.random().next()));
}

} // namespace

void begin_group(Group &group, Run &run, const std::vector<uint64_t> &packet) {
  const Request &request = run.request();
  const Kernel &kernel = *request.kernel;
  group.lds.resize(kernel.lds_bytes + request.options.dynamic_lds);
  for (uint8_t &byte : group.lds)
    byte = static_cast<uint8_t>(run.random().next());
  const uint32_t width = kernel.wave();
  const uint32_t waves = (lanes_of(request) + width - 1) / width;
  for (uint32_t i = 0; i < waves; ++i) {
    // Not initialised as a whole: most registers are never touched.
    std::unique_ptr<Wave> wave(new Wave);
    wave->width = width;
    wave->index = i;
    wave->group = &group;
    wave->run = &run;
    wave->lane_scratch = kernel.scratch_bytes;
    wave->scratch.resize(static_cast<size_t>(kernel.scratch_bytes) * width);
    fill_with_anything(*wave, run);
    fill_scalars(*wave, run, packet);
    fill_places(*wave, request);
    wave->pc = run.image().index_of(kernel.entry);
    group.waves.push_back(std::move(wave));
  }
  group.alive = waves;
}

std::vector<uint8_t> whole_arguments(const Request &request) {
  std::vector<uint8_t> whole = request.arguments;
  whole.resize(std::max<size_t>(request.kernel->argument_bytes, 8));
  for (const Argument &argument : request.kernel->arguments) {
    if (!argument.hidden()) {
      if (argument.offset + argument.size > request.arguments.size())
        throw Refusal("the kernel takes " +
                      std::to_string(argument.offset + argument.size) +
                      " bytes of arguments, and was given " +
                      std::to_string(request.arguments.size()));
      continue;
    }
    const uint64_t value = hidden_value(request, argument.kind);
    memcpy(whole.data() + argument.offset, &value,
           std::min<size_t>(argument.size, sizeof value));
  }
  return whole;
}

std::vector<uint64_t> dispatch_packet(const Request &request) {
  // The packet's 64 bytes, then a queue that says nothing.
  std::vector<uint64_t> packet(8 + 32);
  auto *bytes = reinterpret_cast<uint8_t *>(packet.data());
  const auto put = [&](size_t at, auto value) {
    memcpy(bytes + at, &value, sizeof value);
  };
  put(2, static_cast<uint16_t>(dimensions(request)));
  for (unsigned axis = 0; axis < 3; ++axis) {
    put(4 + 2 * axis, static_cast<uint16_t>(request.lanes[axis]));
    put(12 + 4 * axis, request.groups[axis] * request.lanes[axis]);
  }
  put(24, request.kernel->scratch_bytes);
  put(28, request.kernel->lds_bytes + request.options.dynamic_lds);
  put(40, reinterpret_cast<uint64_t>(request.arguments.data()));
  return packet;
}

} // namespace amdgpu
