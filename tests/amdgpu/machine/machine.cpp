// SPDX-License-Identifier: MIT
/// @file
/// @brief The C API: checks what comes in, and lets no exception out.
#include "machine.h"

#include <stdio.h>
#include <string.h>

#include <exception>
#include <memory>

#include "error.h"
#include "image.h"
#include "run.h"

struct amdgpu_image {
  amdgpu::Image image;
};

struct amdgpu_run {
  amdgpu::Run run;
};

namespace {

using amdgpu::Refusal;

void say(char *error, size_t error_size, const char *what) {
  if (error != nullptr && error_size > 0)
    snprintf(error, error_size, "%s", what);
}

/// What `make` returns; null, and the reason, where it throws.
template <class Make>
auto or_reason(char *error, size_t error_size, Make make) -> decltype(make()) {
  try {
    return make();
  } catch (const std::exception &reason) {
    say(error, error_size, reason.what());
    return nullptr;
  }
}

amdgpu_options checked(const amdgpu_options *options) {
  amdgpu_options result = {};
  if (options == nullptr)
    return result;
  if (options->struct_size != sizeof result)
    throw Refusal("amdgpu_options has another size than the machine's");
  result = *options;
  if (result.flags & ~uint32_t(AMDGPU_WEAK | AMDGPU_REAL_TIME))
    throw Refusal("amdgpu_options has flags that are not known");
  if (result.ranges == nullptr)
    result.range_count = 0;
  return result;
}

void check_grid(const amdgpu::Request &request) {
  uint64_t lanes = 1;
  uint64_t groups = 1;
  for (unsigned axis = 0; axis < 3; ++axis) {
    lanes *= request.lanes[axis];
    groups *= request.groups[axis];
  }
  if (lanes == 0 || lanes > request.kernel->largest_group)
    throw Refusal("a workgroup of " + std::to_string(lanes) +
                  " lanes; the kernel allows 1 to " +
                  std::to_string(request.kernel->largest_group));
  if (groups == 0 || groups > UINT32_MAX)
    throw Refusal("no workgroups, or too many");
}

amdgpu::Request request_of(const amdgpu::Image &image, const char *kernel,
                           const uint32_t groups[3], const uint32_t lanes[3]) {
  amdgpu::Request request = {};
  request.kernel = image.kernel(kernel);
  if (request.kernel == nullptr)
    throw Refusal(std::string("the code object has no kernel ") + kernel);
  memcpy(request.groups, groups, sizeof request.groups);
  memcpy(request.lanes, lanes, sizeof request.lanes);
  check_grid(request);
  return request;
}

} // namespace

amdgpu_image *amdgpu_load(const void *elf, size_t size, char *error,
                          size_t error_size) {
  return or_reason(error, error_size, [&] {
    return std::unique_ptr<amdgpu_image>(
               new amdgpu_image{amdgpu::Image(elf, size)})
        .release();
  });
}

void amdgpu_unload(amdgpu_image *image) { delete image; }

const char *amdgpu_architecture(const amdgpu_image *image) {
  return image->image.elf().target().c_str();
}

uint32_t amdgpu_wave(const amdgpu_image *image) { return image->image.wave(); }

const char *amdgpu_unknown(const amdgpu_image *image) {
  return image->image.unknown().c_str();
}

int amdgpu_symbol(const amdgpu_image *image, const char *name, void **address,
                  uint64_t *size) {
  const auto &symbols = image->image.elf().symbols();
  const auto found = symbols.find(name);
  if (found == symbols.end())
    return -1;
  *address = image->image.elf().base() + found->second.offset;
  *size = found->second.size;
  return 0;
}

int amdgpu_argument(const amdgpu_image *image, const char *kernel,
                    uint32_t index, uint32_t *offset, uint32_t *size) {
  const amdgpu::Kernel *found = image->image.kernel(kernel);
  if (found == nullptr || index >= found->arguments.size() ||
      found->arguments[index].hidden())
    return -1;
  *offset = found->arguments[index].offset;
  *size = found->arguments[index].size;
  return 0;
}

amdgpu_run *amdgpu_start(amdgpu_image *image, const char *kernel,
                         const uint32_t groups[3], const uint32_t lanes[3],
                         const void *arguments, size_t size,
                         const amdgpu_options *options, char *error,
                         size_t error_size) {
  return or_reason(error, error_size, [&]() -> amdgpu_run * {
    amdgpu::Request request = request_of(image->image, kernel, groups, lanes);
    const auto *bytes = static_cast<const uint8_t *>(arguments);
    request.arguments.assign(bytes, bytes + size);
    request.options = checked(options);
    return new amdgpu_run{amdgpu::Run(image->image, std::move(request))};
  });
}

int amdgpu_step(amdgpu_run *run, uint64_t steps) {
  return run->run.step(steps);
}

const char *amdgpu_failure(const amdgpu_run *run) {
  return run->run.failure().c_str();
}

uint64_t amdgpu_instructions(const amdgpu_run *run) {
  return run->run.instructions();
}

void amdgpu_finish(amdgpu_run *run) { delete run; }
