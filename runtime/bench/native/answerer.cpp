// SPDX-License-Identifier: MIT
/// @file
/// @brief The other end of a ping-pong: a thread that copies a word as soon as
/// it changes.

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "pin.h"

namespace {

class Answerer {
public:
  Answerer(const uint32_t *ping, uint32_t *pong, int32_t cpu)
      : thread_([=] { answer(ping, pong, cpu < 0); }) {
    if (cpu >= 0)
      xiokv::bench::pin(thread_, static_cast<uint32_t>(cpu));
  }

  ~Answerer() {
    stopped_ = true;
    thread_.join();
  }

private:
  /// A thread without a core of its own gives it up now and then.
  void answer(const uint32_t *ping, uint32_t *pong, bool yields) const {
    constexpr uint32_t polls_a_yield = 64;
    uint32_t last = 0;
    for (uint32_t polls = 1; !stopped_; ++polls) {
      const uint32_t seen = __atomic_load_n(ping, __ATOMIC_ACQUIRE);
      if (seen != last)
        __atomic_store_n(pong, last = seen, __ATOMIC_RELEASE);
      else if (yields && polls % polls_a_yield == 0)
        sched_yield();
    }
  }

  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

} // namespace

/// @brief Copy the word at `ping` to `pong` whenever it changes from 0 on,
/// until bench_answerer_end.
/// @param cpu The thread's core, or -1.
extern "C" void *bench_answerer_begin(const uint32_t *ping, uint32_t *pong,
                                      int32_t cpu) {
  return new Answerer(ping, pong, cpu);
}

extern "C" void bench_answerer_end(void *answerer) {
  delete static_cast<Answerer *>(answerer);
}
