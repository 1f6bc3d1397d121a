// SPDX-License-Identifier: MIT
/// @file
/// @brief A batch in flight: what it holds until its end, and its results.
#pragma once

#include <memory>

#include "launch.h"
#include "request.h"

namespace xiokv::host {

class Batch {
public:
  static constexpr const char *what = "handle";
  static constexpr bool forks = false;

  explicit Batch(Packed packed);

  uint32_t count() const { return packed_.count; }

  /// @brief What describes it to the engine, but for queues and time.
  xiokv_batch describe(const xiokv_reserved &fields);

  /// @brief Note what runs it; null: it has no keys, and ended.
  void run_by(std::shared_ptr<Launch> launch) { launch_ = std::move(launch); }

  bool ended() const { return launch_ == nullptr || launch_->ended(); }
  Waited wait(int64_t timeout_ns);
  void wait_out();

  /// @brief Submit no more keys, unless it has ended.
  void cancel();

  /// @brief After the end: how many keys are not OK; results[0..count), if any.
  /// A Fault where it was not run.
  int take(xiokv_result *results, size_t begin, size_t count) const;

  /// @brief After the end: whether a command timed out.
  bool timed_out() const;

private:
  struct alignas(64) Shared {
    xiokv_stop stop = {};
    xiokv_batch_state state = {};
  };

  const Packed packed_;
  std::unique_ptr<Shared> shared_;
  std::vector<xiokv_result> results_;
  std::shared_ptr<Launch> launch_;
};

} // namespace xiokv::host
