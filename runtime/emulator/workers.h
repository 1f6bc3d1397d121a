// SPDX-License-Identifier: MIT
/// @file
/// @brief Threads that poll, and rest where there is nothing to do and others
/// may want the core.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "bell.h"
#include "config.h"
#include "value_store.h"

namespace xiokv::emulator {

class Workers {
public:
  /// @brief One round of polling; returns whether anything was done.
  using Round = std::function<bool(uint32_t worker)>;

  Workers() = default;
  Workers(const Workers &) = delete;
  Workers &operator=(const Workers &) = delete;
  ~Workers() { stop(); }

  /// @brief Start the threads unless they run.
  /// @param bells One a worker: each ends a rest. They outlive the threads.
  /// @param store Says how long an idle thread may nap.
  /// @return Whether they run.
  bool start(const Config &config, std::vector<Bell> &bells,
             const ValueStore &store, const Round &round);

  /// @brief Stop and join the threads, if any.
  void stop();

  bool running() const { return running_; }

private:
  void join();
  bool start_one(const Config &config, Bell &bell, const ValueStore &store,
                 const Round &round, uint32_t worker);
  void poll(const Round &round, uint32_t worker, Bell *bell,
            const ValueStore &store) const;

  std::mutex mutex_; ///< Held by start and stop.
  std::vector<std::thread> threads_;
  std::atomic<bool> running_{false};
};

} // namespace xiokv::emulator
