// SPDX-License-Identifier: MIT
/// @file
/// @brief A kernel of the host and its argument, run once for each number.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "event.h"
#include "xiokv.h"

namespace xiokv::host {

class Launch {
public:
  static constexpr const char *what = "launch";
  static constexpr bool forks = false;

  /// @param argument Copied; `size` bytes.
  /// @param count Runs, each on a thread of its own.
  /// @param after What has to end first, or null.
  Launch(xiokv_entry entry, const void *argument, size_t size, uint32_t count,
         std::shared_ptr<Launch> after);

  /// @brief Wait for the launch to follow, run, and end; in the calling thread.
  void run();

  /// @brief Wait for the launch to follow, and end with a code, having run
  /// nothing.
  void skip(int code);

  bool ended() const { return end_.come(); }
  Waited wait(int64_t nanoseconds) { return end_.wait(nanoseconds); }

  // Once it has ended:
  int code() const { return code_; }
  uint32_t sharing() const { return sharing_; }
  int64_t nanoseconds() const { return nanoseconds_; }

private:
  void await_turn();
  void end(int code);

  const xiokv_entry entry_;
  std::vector<max_align_t> argument_;
  const uint32_t count_;
  std::shared_ptr<Launch> after_;
  Event end_;
  int code_ = 0;
  uint32_t sharing_ = 0;
  int64_t nanoseconds_ = 0;
};

} // namespace xiokv::host
