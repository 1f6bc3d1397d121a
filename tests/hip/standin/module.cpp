// SPDX-License-Identifier: MIT
#include "module.h"

#include <cstdio>
#include <cstring>
#include <thread>

#include "call.h"
#include "config.h"
#include "image.h"
#include "runtime.h"

namespace standin {
namespace {

constexpr size_t reason_bytes = 1024;
// Instructions between two offers of the core to others: a kernel that waits
// may need it for what it waits for.
constexpr uint64_t turn = 1 << 14;

void complain(const std::string &what, const char *reason) {
  std::fprintf(stderr, "libamdhip64.so (stand-in): %s: %s\n", what.c_str(),
               reason);
}

amdgpu_image *load(const void *address) {
  const std::vector<uint8_t> elf = copy_image(address);
  char reason[reason_bytes] = "";
  amdgpu_image *image =
      amdgpu_load(elf.data(), elf.size(), reason, sizeof reason);
  if (!image)
    complain("code object", reason);
  require(image != nullptr, hipErrorInvalidImage);
  return image;
}

/// Return the arguments in HIP's notation of a list of marks and pointers.
std::vector<uint8_t> unpack(void *const *extra) {
  const uint8_t *buffer = nullptr;
  const size_t *bytes = nullptr;
  for (; reinterpret_cast<uintptr_t>(*extra) != HIP_LAUNCH_PARAM_END;
       extra += 2) {
    const auto mark = reinterpret_cast<uintptr_t>(extra[0]);
    if (mark == HIP_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = static_cast<const uint8_t *>(extra[1]);
    else if (mark == HIP_LAUNCH_PARAM_BUFFER_SIZE)
      bytes = static_cast<const size_t *>(extra[1]);
    else
      throw Fault{hipErrorInvalidValue};
  }
  require(buffer && bytes, hipErrorInvalidValue);
  return std::vector<uint8_t>(buffer, buffer + *bytes);
}

/// Return arguments, given one by one, in the layout of the kernel.
std::vector<uint8_t> gather(const Function &function, void *const *pointers) {
  std::vector<uint8_t> packed;
  uint32_t offset = 0;
  uint32_t size = 0;
  for (uint32_t index = 0;
       amdgpu_argument(function.module->image, function.name.c_str(), index,
                       &offset, &size) == 0;
       ++index) {
    require(pointers && pointers[index], hipErrorInvalidValue);
    packed.resize(offset + size);
    std::memcpy(packed.data() + offset, pointers[index], size);
  }
  return packed;
}

/// Return what kernels may reach: all that the device was given, and no more.
std::vector<amdgpu_range> reachable() {
  std::vector<amdgpu_range> ranges;
  for (const Block &block : runtime().memory.all()) {
    if (block.address == block.on_device)
      ranges.push_back({block.address, block.bytes});
  }
  return ranges;
}

amdgpu_run *start(const Launch &launch, char *reason) {
  const std::vector<amdgpu_range> ranges = reachable();
  amdgpu_options options{};
  options.struct_size = sizeof options;
  options.flags = AMDGPU_REAL_TIME | (config().weak ? AMDGPU_WEAK : 0);
  options.seed = config().seed;
  options.instruction_limit = config().instructions;
  options.dynamic_lds = launch.shared_bytes;
  options.range_count = static_cast<uint32_t>(ranges.size());
  options.ranges = ranges.data();
  return amdgpu_start(launch.module->image, launch.kernel.c_str(),
                      launch.groups, launch.lanes, launch.arguments.data(),
                      launch.arguments.size(), &options, reason, reason_bytes);
}

} // namespace

Module::Module(const void *at, int on) : device(on), image(load(at)) {
  if (!runs_on(amdgpu_architecture(image), config().architecture)) {
    amdgpu_unload(image);
    throw Fault{hipErrorNoBinaryForGpu};
  }
}

Module::~Module() { amdgpu_unload(image); }

std::vector<uint8_t> pack(const Function &function, void *const *pointers,
                          void *const *extra) {
  require(!pointers || !extra, hipErrorInvalidValue);
  return extra ? unpack(extra) : gather(function, pointers);
}

hipError_t execute(const Launch &launch) {
  char reason[reason_bytes] = "";
  amdgpu_run *run = start(launch, reason);
  if (!run) {
    complain(launch.kernel, reason);
    return hipErrorLaunchFailure;
  }
  int state = 0;
  while ((state = amdgpu_step(run, turn)) > 0)
    std::this_thread::yield();
  if (state < 0)
    complain(launch.kernel, amdgpu_failure(run));
  amdgpu_finish(run);
  return state < 0 ? hipErrorLaunchFailure : hipSuccess;
}

} // namespace standin
