// SPDX-License-Identifier: MIT
#include "process.h"

#include <pthread.h>
#include <sys/prctl.h>

#include <atomic>
#include <memory>
#include <system_error>
#include <thread>

#include "../emulator/no_signals.h"

namespace xiokv::host {

namespace {

constexpr unsigned long timer_slack_nanoseconds = 1000;

std::atomic<unsigned> forks{0};

/// Never destroyed: threads may use it past the end of main.
std::mutex *const table_mutex = [] {
  auto *made = new std::mutex;
  pthread_atfork([] { process_mutex().lock(); },
                 [] { process_mutex().unlock(); },
                 [] {
                   ++forks;
                   process_mutex().unlock();
                 });
  return made;
}();

} // namespace

std::mutex &process_mutex() { return *table_mutex; }

unsigned generation() { return forks; }

bool start_thread(const char *name, std::function<void()> work) {
  const emulator::NoSignals during;
  try {
    std::thread thread([work = std::move(work)] {
      // A rest between two looks at a queue is to be as short as it says.
      prctl(PR_SET_TIMERSLACK, timer_slack_nanoseconds);
      work();
    });
    pthread_setname_np(thread.native_handle(), name);
    thread.detach();
    return true;
  } catch (const std::system_error &) {
    return false;
  }
}

} // namespace xiokv::host
