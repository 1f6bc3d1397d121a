// SPDX-License-Identifier: MIT
#include "workers.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <system_error>

namespace xiokv::emulator {

namespace {

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Keeps a thread on one core.
bool pin(std::thread &thread, uint32_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return pthread_setaffinity_np(thread.native_handle(), sizeof set, &set) == 0;
}

/// Waits a little longer with every idle round: first for the sake of latency,
/// then of others who want the core, at last of an idle machine.
class BackOff {
public:
  explicit BackOff(bool yields)
      : spins_(yields ? most_spins : few_spins),
        yields_(yields ? most_yields : few_spins),
        step_(yields ? short_step : long_step) {}

  void reset() { rounds_ = 0; }

  void wait(Bell &bell) {
    ++rounds_;
    if (rounds_ < spins_)
      pause();
    else if (rounds_ < yields_)
      std::this_thread::yield();
    else
      bell.rest(std::min(longest, step_ * (rounds_ - yields_ + 1)));
  }

private:
  static constexpr uint32_t most_spins = 200;
  static constexpr uint32_t few_spins = 10;
  static constexpr uint32_t most_yields = 1000;
  static constexpr std::chrono::microseconds short_step{5};
  static constexpr std::chrono::microseconds long_step{20};
  static constexpr std::chrono::microseconds longest{1000};

  const uint32_t spins_;
  const uint32_t yields_;
  const std::chrono::microseconds step_;
  uint32_t rounds_ = 0;
};

} // namespace

bool Workers::start(const Config &config, std::vector<Bell> &bells, bool yields,
                    const Round &round) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (running_)
    return true;
  running_ = true;
  for (uint32_t worker = 0; running_ && worker < config.threads; ++worker)
    if (!start_one(config, bells[worker], yields, round, worker))
      join();
  return running_;
}

bool Workers::start_one(const Config &config, Bell &bell, bool yields,
                        const Round &round, uint32_t worker) {
  const bool pinned = config.has(XIOKV_EMU_PINNED);
  try {
    threads_.emplace_back([this, round, worker,
                           resting = pinned ? nullptr : &bell,
                           yields] { poll(round, worker, resting, yields); });
  } catch (const std::system_error &) {
    return false;
  }
  pthread_setname_np(threads_.back().native_handle(), "xiokv-worker");
  return !pinned || pin(threads_.back(), config.cpus[worker]);
}

void Workers::stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  join();
}

void Workers::join() {
  running_ = false;
  for (std::thread &thread : threads_)
    thread.join();
  threads_.clear();
}

void Workers::poll(const Round &round, uint32_t worker, Bell *bell,
                   bool yields) const {
  // Rests are to be as short as they are asked for.
  prctl(PR_SET_TIMERSLACK, 1000ul);
  BackOff back_off(yields);
  while (running_) {
    if (round(worker))
      back_off.reset();
    else if (bell)
      back_off.wait(*bell);
    else
      pause();
  }
}

} // namespace xiokv::emulator
