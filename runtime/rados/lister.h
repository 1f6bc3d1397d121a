// SPDX-License-Identifier: MIT
/// @file
/// @brief Lists the keys of a namespace on a thread of its own, since the calls
/// that list objects wait for the cluster.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "cluster.h"
#include "flight.h"

namespace xiokv::rados {

/// @brief One listing after the other; the thread starts with the first.
///
/// One that is given up or overdue takes no more of the thread's time than the
/// call that is under way.
class Lister {
public:
  /// @param longest How long a call may wait for the cluster.
  Lister(Cluster &cluster, std::chrono::milliseconds longest)
      : cluster_(cluster), longest_(longest) {}

  /// @brief Waits for the call that is under way, if any.
  ~Lister();
  Lister(const Lister &) = delete;
  Lister &operator=(const Lister &) = delete;

  /// @brief Carry out the flight's listing, then put it into its inbox.
  /// @return False where the system gives no thread.
  bool add(std::shared_ptr<Flight> flight);

private:
  void work();
  bool is_wanted(const Flight &flight) const;
  int list(Flight &flight);

  Cluster &cluster_;
  const std::chrono::milliseconds longest_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Flight>> waiting_;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

} // namespace xiokv::rados
