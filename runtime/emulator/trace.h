// SPDX-License-Identifier: MIT
/// @file
/// @brief A record of the entries that were fetched and posted.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>

#include "emulator.h"

namespace xiokv::emulator {

class Trace {
public:
  /// @brief Begin anew; 0 ends tracing.
  void start(uint64_t capacity);

  /// @brief Whether records are wanted: to be asked before one is made.
  bool on() const { return on_.load(std::memory_order_relaxed); }

  /// @brief Add a record; it is lost, and counted, where there is no room.
  void add(xiokv_emu_trace_kind kind, uint32_t qid, const uint8_t *bytes,
           size_t size);

  uint64_t take(xiokv_emu_trace *out, uint64_t count);
  uint64_t lost() const;

private:
  std::atomic<bool> on_{false};
  mutable std::mutex mutex_;
  std::deque<xiokv_emu_trace> records_;
  uint64_t capacity_ = 0;
  uint64_t lost_ = 0;
  std::chrono::steady_clock::time_point start_;
};

} // namespace xiokv::emulator
