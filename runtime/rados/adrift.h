// SPDX-License-Identifier: MIT
/// @file
/// @brief Values of Stores that were given up while their messages wait for an
/// OSD that takes none.
///
/// A message that was handed to a connection cannot be taken back. While an OSD
/// hangs, a host that tries again and again would fill the memory.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "memories.h"

namespace xiokv::rados {

/// @brief Used by any thread.
class Adrift {
public:
  /// @brief Watch a value, unless no message holds it.
  void add(std::shared_ptr<const Memory> value) {
    if (is_alone(value))
      return;
    const std::lock_guard<std::mutex> lock(mutex_);
    bytes_ += charge(value);
    values_.push_back(std::move(value));
  }

  /// @brief Let go of values that no message holds any more.
  /// @return Whether there are so many others that no Store is to be sent.
  bool is_full() {
    if (bytes_ == 0)
      return false;
    const std::lock_guard<std::mutex> lock(mutex_);
    const Clock::time_point now = Clock::now();
    if (now >= next_look_) {
      next_look_ = now + pause;
      look();
    }
    return bytes_ >= limit;
  }

private:
  using Clock = std::chrono::steady_clock;

  static constexpr size_t limit = size_t{64} << 20;
  static constexpr size_t message_bytes = 2048;
  static constexpr std::chrono::milliseconds pause{10};

  static bool is_alone(const std::shared_ptr<const Memory> &value) {
    return value->raw_nref() == 1;
  }

  static size_t charge(const std::shared_ptr<const Memory> &value) {
    return value->length() + message_bytes;
  }

  void look() {
    std::vector<std::shared_ptr<const Memory>> held;
    size_t bytes = 0;
    for (auto &value : values_) {
      if (is_alone(value))
        continue;
      bytes += charge(value);
      held.push_back(std::move(value));
    }
    values_ = std::move(held);
    bytes_ = bytes;
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<const Memory>> values_;
  std::atomic<size_t> bytes_{0};
  Clock::time_point next_look_;
};

} // namespace xiokv::rados
