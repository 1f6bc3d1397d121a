// SPDX-License-Identifier: MIT
#include "fiber_workgroups.h"

#include <map>

extern "C" {
void xiokv_batch_store(const xiokv_batch *batch, uint32_t number);
void xiokv_batch_retrieve(const xiokv_batch *batch, uint32_t number);
void xiokv_batch_delete(const xiokv_batch *batch, uint32_t number);
void xiokv_batch_exist(const xiokv_batch *batch, uint32_t number);
void xiokv_batch_list(const xiokv_batch *batch, uint32_t number);
}

namespace {
constexpr uint64_t step_limit = 10000000;

using Kernel = void (*)(const xiokv_batch *, uint32_t);
const std::map<std::string, Kernel> kernels = {
    {"store", xiokv_batch_store},
    {"retrieve", xiokv_batch_retrieve},
    {"delete", xiokv_batch_delete},
    {"exist", xiokv_batch_exist},
    {"list", xiokv_batch_list}};
} // namespace

const Pace &FiberWorkgroups::pace() const {
  static const Pace pace = {1000000, 60000, 20000, true};
  return pace;
}

uint32_t FiberWorkgroups::shared_window() const {
  return SIMULATED_SHARED_WINDOW;
}

void FiberWorkgroups::run(const std::string &command, const xiokv_batch &batch,
                          uint64_t seed, const std::function<void()> &outside) {
  fibers::World world(seed, SIMULATED_LANES, SIMULATED_WAVE);
  for (uint32_t number = 0; number < batch.queue_count; ++number)
    world.add([&batch, number, kernel = kernels.at(command)] {
      kernel(&batch, number);
    });
  world_ = &world;
  world.run(outside, step_limit);
  ended_ = world.now;
  world_ = nullptr;
}
