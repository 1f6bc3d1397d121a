// SPDX-License-Identifier: MIT
/// @file
/// @brief A queue pair in this process's memory: entries in, completions out.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "device.h"

namespace xiokv::passthrough {

/// @brief Entries fetched and completions posted, by all queues. Each is
/// counted before anyone can see its effect.
struct Traffic {
  std::atomic<uint64_t> commands{0};
  std::atomic<uint64_t> completions{0};
};

/// @brief A queue pair. One thread fetches; any may complete.
class Queue {
public:
  Queue(const Made &made, uint32_t *tail_doorbell, uint32_t *head_doorbell,
        Traffic &traffic);

  /// @brief Take the next entry, if there is one and the completion ring has
  /// room for all that was fetched.
  bool fetch(Sqe &sqe);

  /// @brief Post the completion of a fetched entry, or where the queue is going
  /// drop it.
  void complete(const Sqe &sqe, const Outcome &outcome);

  /// @brief Fetch no more, and post no more.
  void close();
  bool closed() const;

  /// @brief Wait until nothing that was fetched is under way.
  void wait();

private:
  uint32_t room();

  const Made made_;
  uint32_t *const tail_doorbell_;
  uint32_t *const head_doorbell_;
  Traffic &traffic_;

  mutable std::mutex mutex_;
  std::condition_variable ended_;
  uint32_t sq_head_ = 0;
  uint32_t cq_tail_ = 0;
  uint32_t phase_ = 1;
  uint32_t in_flight_ = 0;
  bool closed_ = false;
};

} // namespace xiokv::passthrough
