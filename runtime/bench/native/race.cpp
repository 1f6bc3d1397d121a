// SPDX-License-Identifier: MIT
/// @file
/// @brief Times one batch that CPU threads run, a thread a queue.

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "pin.h"
#include "xiokv/kv_abi.h"

namespace {

/// What a module or the client exports for a command.
using Kernel = void (*)(const xiokv_batch *, uint32_t);
using Clock = std::chrono::steady_clock;

/// What the threads of one race share.
struct Start {
  std::atomic<uint32_t> ready{0};
  std::atomic<bool> go{false};
};

} // namespace

/// @brief Run a batch with a thread a queue.
/// @param cpus The core of each thread, or NULL.
/// @return Seconds from the start, when all threads are ready, to the end of
/// the last.
extern "C" double bench_race(Kernel kernel, const xiokv_batch *batch,
                             const uint32_t *cpus) {
  Start start;
  std::vector<Clock::time_point> ends(batch->queue_count);
  std::vector<std::thread> threads;
  for (uint32_t number = 0; number < batch->queue_count; ++number) {
    threads.emplace_back([&, number] {
      ++start.ready;
      while (!start.go)
        sched_yield();
      kernel(batch, number);
      ends[number] = Clock::now();
    });
    if (cpus)
      xiokv::bench::pin(threads.back(), cpus[number]);
  }
  while (start.ready != batch->queue_count)
    sched_yield();
  const Clock::time_point begin = Clock::now();
  start.go = true;
  for (std::thread &thread : threads)
    thread.join();
  const Clock::time_point end = *std::max_element(ends.begin(), ends.end());
  return std::chrono::duration<double>(end - begin).count();
}
