// SPDX-License-Identifier: MIT
/// @file
/// @brief Threads on cores of their own.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <cstdint>
#include <thread>

namespace xiokv::bench {

/// @brief Keep a thread on one core; where the system refuses, it runs on.
inline void pin(std::thread &thread, uint32_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(thread.native_handle(), sizeof set, &set);
}

} // namespace xiokv::bench
