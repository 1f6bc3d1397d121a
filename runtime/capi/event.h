// SPDX-License-Identifier: MIT
/// @file
/// @brief Something that happens once, and waits for it that a signal ends.
#pragma once

#include <atomic>
#include <cstdint>

namespace xiokv::host {

/// @brief No limit of time.
constexpr int64_t forever = -1;

/// @brief How a wait ended.
enum class Waited { come, expired, interrupted };

class Event {
public:
  bool come() const { return word_.load(std::memory_order_acquire) == set_; }

  /// @brief Let it come. Who waits may then destroy the event at once: only its
  /// address is used from there on.
  void set();

  /// @brief Wait for it, at most some nanoseconds, or until a signal handler
  /// ran on this thread.
  Waited wait(int64_t nanoseconds);

  /// @brief Wait for it, whatever signals come.
  void wait_out() {
    while (wait(forever) != Waited::come)
      continue;
  }

private:
  static constexpr uint32_t quiet_ = 0, awaited_ = 1, set_ = 2;

  std::atomic<uint32_t> word_{quiet_};
};

/// @brief Nanoseconds of the monotonic clock.
int64_t now();

} // namespace xiokv::host
