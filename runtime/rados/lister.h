// SPDX-License-Identifier: MIT
/// @file
/// @brief Lists the keys of a namespace on a thread of its own, since the calls
/// that list objects wait for the cluster.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "cluster.h"
#include "flight.h"

namespace xiokv::rados {

/// @brief One listing after the other; the thread starts with the first.
class Lister {
public:
  explicit Lister(Cluster &cluster) : cluster_(cluster) {}
  ~Lister();
  Lister(const Lister &) = delete;
  Lister &operator=(const Lister &) = delete;

  /// @brief Carry out the flight's listing, then put it into its inbox.
  /// @return False where the system gives no thread.
  bool add(Flight &flight);

private:
  void work();
  int list(Flight &flight);

  Cluster &cluster_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Flight *> waiting_;
  bool ends_ = false;
  std::thread thread_;
};

} // namespace xiokv::rados
