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
///
/// Where replies come later, it does not try for long: it sleeps for a moment,
/// in which they gather, and then until there are some.
class BackOff {
public:
  explicit BackOff(const ValueStore &store) : store_(store) {}

  void reset() { rounds_ = 0; }

  void wait(Bell &bell) {
    const std::chrono::microseconds nap = store_.nap();
    ++rounds_;
    if (nap.count() != 0)
      wait_for_replies(bell, nap);
    else if (rounds_ < spins)
      pause();
    else if (rounds_ < yields)
      std::this_thread::yield();
    else
      bell.rest(std::min(longest, shortest * (rounds_ - yields + 1)));
  }

private:
  static constexpr uint32_t spins = 200;
  static constexpr uint32_t few_spins = 4;
  static constexpr uint32_t yields = 1000;
  static constexpr std::chrono::microseconds shortest{5};
  static constexpr std::chrono::microseconds longest{1000};

  void wait_for_replies(Bell &bell, std::chrono::microseconds nap) {
    if (rounds_ < few_spins)
      return pause();
    std::this_thread::sleep_for(nap);
    bell.rest(std::min(longest, nap * (rounds_ - few_spins)));
  }

  const ValueStore &store_;
  uint32_t rounds_ = 0;
};

} // namespace

bool Workers::start(const Config &config, std::vector<Bell> &bells,
                    const ValueStore &store, const Round &round) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (running_)
    return true;
  running_ = true;
  for (uint32_t worker = 0; running_ && worker < config.threads; ++worker)
    if (!start_one(config, bells[worker], store, round, worker))
      join();
  return running_;
}

bool Workers::start_one(const Config &config, Bell &bell,
                        const ValueStore &store, const Round &round,
                        uint32_t worker) {
  const bool pinned = config.has(XIOKV_EMU_PINNED);
  try {
    threads_.emplace_back([this, round, worker,
                           resting = pinned ? nullptr : &bell,
                           &store] { poll(round, worker, resting, store); });
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
                   const ValueStore &store) const {
  // Rests are to be as short as they are asked for.
  prctl(PR_SET_TIMERSLACK, 1000ul);
  BackOff back_off(store);
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
