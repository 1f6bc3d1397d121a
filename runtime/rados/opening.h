// SPDX-License-Identifier: MIT
/// @file
/// @brief A store that a thread of its own opens: librados waits for a monitor
/// in a call that nothing cuts off.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "rados_store.h"

namespace xiokv::rados {

/// @brief Begun by the constructor, and ended by `end` or `give_up`.
class Opening {
public:
  /// @brief Refuse what is not allowed, and begin.
  explicit Opening(const xiokv_rados_config &config);

  /// @brief Wait until it is over.
  /// @return Whether it is.
  bool wait(std::chrono::milliseconds longest);

  /// @brief Wait until it is over.
  /// @return The store.
  /// @throws Refusal There is none.
  static std::unique_ptr<RadosStore> end(std::unique_ptr<Opening> opening);

  /// @brief Leave one that is not over to its thread, which ends by its own
  /// time-out; the end of the process waits for that.
  static void give_up(std::unique_ptr<Opening> opening);

private:
  friend class GivenUp;

  void run();
  bool is_left();

  const Place place_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  bool given_up_ = false;
  std::unique_ptr<RadosStore> store_;
  std::string failure_; ///< Where there is no store: why.
  std::thread thread_;
};

} // namespace xiokv::rados
