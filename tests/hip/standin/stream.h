// SPDX-License-Identifier: MIT
/// @file
/// @brief Streams, each a thread that does its work in order, and moments in
/// them, which other streams and the host wait for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "hip_abi.h"

namespace standin {

/// @brief The end of one piece of work in a stream.
class Moment {
public:
  using Clock = std::chrono::steady_clock;

  /// @brief Say that the work has ended, and how.
  void reach(hipError_t error);

  /// @brief Wait until it is reached; return the work's error.
  hipError_t wait() const;

  /// @brief Return the work's error, hipErrorNotReady while it is to come.
  hipError_t query() const;

  /// @brief Return when it was reached.
  Clock::time_point time() const;

private:
  mutable std::mutex mutex_;
  mutable std::condition_variable reached_;
  hipError_t error_ = hipErrorNotReady;
  Clock::time_point time_;
};

using MomentPointer = std::shared_ptr<Moment>;

/// @brief A stream of work. Work that fails makes the stream fail for good:
/// what follows is left out and ends with the same error.
class Stream {
public:
  using Work = std::function<hipError_t()>;

  /// @brief Start the stream's thread.
  /// @param blocking Whether it keeps order with the null stream.
  Stream(int device, bool blocking);

  /// @brief End the thread once all work is done.
  ~Stream();

  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  /// @brief Add work.
  /// @param after Moments of other streams that have to come first.
  /// @return The moment when the work has ended.
  MomentPointer submit(Work work, std::vector<MomentPointer> after = {});

  /// @brief Return the moment when all work so far has ended.
  MomentPointer last() const;

  const int device;
  const bool blocking;

private:
  struct Item {
    Work work;
    std::vector<MomentPointer> after;
    MomentPointer end;
  };

  void run();
  hipError_t carry_out(const Item &item);

  mutable std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Item> items_;
  MomentPointer last_;
  bool ending_ = false;
  hipError_t error_ = hipSuccess; ///< of the first work that failed
  std::thread thread_;
};

/// @brief An event: the moment that was recorded last, if any.
struct Event {
  explicit Event(int on, bool with_time) : device(on), timing(with_time) {}

  const int device;
  const bool timing;
  std::mutex mutex;
  MomentPointer moment;

  /// @brief Return the moment, null where nothing was recorded.
  MomentPointer recorded() {
    const std::lock_guard<std::mutex> guard(mutex);
    return moment;
  }
};

} // namespace standin
