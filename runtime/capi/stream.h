// SPDX-License-Identifier: MIT
/// @file
/// @brief Ordered work: launches and the caller's functions, on a thread.
///
/// After a function that failed nothing later runs, because it may rely on what
/// failed, until the failure was heard of.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "launch.h"

namespace xiokv::host {

class Stream {
public:
  static constexpr const char *what = "stream";
  static constexpr bool forks = false;

  /// @brief A stream with its thread; a Fault where there is none for it.
  static std::shared_ptr<Stream> start();

  void launch(std::shared_ptr<Launch> launch);
  void submit(xiokv_work work, void *argument);

  /// @brief Wait for all that was given so far.
  Waited settle(int64_t nanoseconds);

  /// @brief The code with which a function failed since the last call, or 0;
  /// from now on work runs again.
  int take_failure();

  /// @brief Take no more work; the thread ends once it has done what it has.
  void close();

private:
  struct Item {
    std::shared_ptr<Launch> launch; ///< Or, where null:
    xiokv_work work;
    void *argument;
  };

  void work();
  bool take(Item &item);
  void carry_out(const Item &item);
  void push(Item item);
  int failure();

  std::mutex mutex_; ///< Of all below.
  std::condition_variable given_;
  std::deque<Item> items_;
  bool closed_ = false;
  int failure_ = 0;
};

/// @brief Wait until no stream of the process has work, nor any comes
/// meanwhile.
Waited settle_all(int64_t nanoseconds);

} // namespace xiokv::host
