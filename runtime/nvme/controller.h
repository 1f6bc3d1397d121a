// SPDX-License-Identifier: MIT
/// @file
/// @brief Queue pairs, the thread that follows their doorbells, and those that
/// wait for commands.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "queue.h"

namespace xiokv::passthrough {

class Controller {
public:
  explicit Controller(const Options &config);
  Controller(const Controller &) = delete;
  Controller &operator=(const Controller &) = delete;
  ~Controller();

  Device &device() { return device_; }
  uint64_t doorbells() const;
  uint64_t doorbells_size() const { return doorbells_.size() * sizeof(Line); }

  /// @brief Create a queue pair, if the number is free.
  bool create_queue(const Made &made);

  /// @brief Delete a queue pair and wait for its commands, if it is there.
  bool delete_queue(uint32_t qid);

  /// @brief Delete all queue pairs, wait for the commands that the driver has,
  /// and end the threads.
  void stop();

  Counters counters() const;

private:
  struct alignas(64) Line {
    uint32_t doorbell = 0;
  };
  struct Work {
    std::shared_ptr<Queue> queue;
    Sqe sqe;
  };

  void follow();
  bool fetch_all();
  void work();
  bool take(Work &work);

  const Options config_;
  Device device_;
  std::vector<Line> doorbells_;
  Traffic traffic_;
  std::atomic<bool> stopping_{false};

  std::mutex table_mutex_; ///< Held by whoever changes or visits the table.
  std::map<uint32_t, std::shared_ptr<Queue>> queues_;

  std::mutex work_mutex_; ///< Of what waits for a thread.
  std::condition_variable waiting_;
  std::deque<Work> work_;
  bool all_fetched_ = false;

  std::vector<std::thread> threads_;
  std::thread follower_;
};

} // namespace xiokv::passthrough
