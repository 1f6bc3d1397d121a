// SPDX-License-Identifier: MIT
#include "code_objects.h"

#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>

namespace {
constexpr uint32_t lanes = 256;
constexpr uint64_t instruction_limit = 3000000; ///< Of a wave.
constexpr uint64_t most_doublings = 9;          ///< Of a burst.

std::runtime_error failed(const std::string &what, const std::string &why) {
  return std::runtime_error(what + ": " + why);
}

std::string kernel_of(const std::string &command) {
  return "xiokv_batch_" + command;
}

bool has_kernel(const amdgpu_image *image, const std::string &name) {
  uint32_t offset, size;
  return amdgpu_argument(image, name.c_str(), 0, &offset, &size) == 0;
}
/// Instructions until something happens outside: few, so that it happens
/// between a load and the wait for it, and now and then many.
uint64_t burst(std::mt19937_64 &random) {
  return 1 + random() % (UINT64_C(1) << random() % most_doublings);
}
/// Events outside in a row: few, and now and then so many that the controller
/// gets far before the waves' stores do.
uint64_t events(std::mt19937_64 &random) {
  return random() % (random() % 16 == 0 ? 256 : 3);
}
} // namespace

void CodeObjects::load(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  char error[300] = "";
  Image image(amdgpu_load(bytes.data(), bytes.size(), error, sizeof error),
              amdgpu_unload);
  if (!image)
    throw failed(path, error);
  if (*amdgpu_unknown(image.get()) != '\0')
    throw failed(path, amdgpu_unknown(image.get()));
  images_.insert(images_.begin(), std::move(image));
}

/// The clock counts the instructions of all waves.
const Pace &CodeObjects::pace() const {
  static const Pace pace = {UINT64_C(1) << 40, 1000000, 200000, false};
  return pace;
}

uint64_t CodeObjects::now() const { return amdgpu_instructions(run_.get()); }

/// Bursts of instructions and outside events take turns. How slow the outside
/// is decides at which of its instructions the engine finds what it waits for.
void CodeObjects::run(const std::string &command, const xiokv_batch &batch,
                      uint64_t seed, const std::function<void()> &outside) {
  std::mt19937_64 random(seed);
  const std::string kernel = kernel_of(command);
  const uint32_t groups[3] = {batch.queue_count, 1, 1};
  const uint32_t size[3] = {lanes, 1, 1};
  amdgpu_options options = {};
  options.struct_size = sizeof options;
  options.flags = AMDGPU_WEAK;
  options.seed = seed;
  options.instruction_limit = instruction_limit;
  char error[300] = "no code object has it";
  run_.reset();
  for (const Image &image : images_)
    if (!run_ && has_kernel(image.get(), kernel))
      run_.reset(amdgpu_start(image.get(), kernel.c_str(), groups, size, &batch,
                              sizeof batch, &options, error, sizeof error));
  if (!run_)
    throw failed(kernel, error);
  const uint64_t slowness = UINT64_C(1) << random() % 3 * 2;
  int more;
  while ((more = amdgpu_step(run_.get(), burst(random))) == 1)
    for (uint64_t i = random() % slowness == 0 ? events(random) : 0; i != 0;
         --i)
      outside();
  if (more < 0)
    throw failed(kernel, amdgpu_failure(run_.get()));
}
