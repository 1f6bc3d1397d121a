// SPDX-License-Identifier: MIT
/// @file
/// @brief What a thread rests by until others have something for it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace xiokv::emulator {

/// @brief Rung by any thread; one thread rests by it.
///
/// A ring is never lost: one that comes before the rest ends it at once. To
/// ring for a thread that does not rest costs no system call.
class Bell {
public:
  void ring() {
    rung_ = true;
    if (!resting_)
      return;
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_.notify_one();
  }

  /// @brief Return when the bell is rung, or was since the last rest.
  void rest(std::chrono::microseconds longest) {
    std::unique_lock<std::mutex> lock(mutex_);
    resting_ = true;
    ended_.wait_for(lock, longest, [this] { return rung_.load(); });
    resting_ = false;
    rung_ = false;
  }

private:
  std::mutex mutex_;
  std::condition_variable ended_;
  std::atomic<bool> rung_{false};
  std::atomic<bool> resting_{false};
};

} // namespace xiokv::emulator
