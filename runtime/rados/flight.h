// SPDX-License-Identifier: MIT
/// @file
/// @brief Operations that a cluster is carrying out, and where they come back.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <rados/librados.hpp>

#include "../emulator/value_store.h"
#include "adrift.h"

namespace xiokv::rados {

using Clock = std::chrono::steady_clock;

/// @brief Part of a List, as a page has room for.
struct Listing {
  emulator::Key start;  ///< The first key wanted; length 0: from the first on.
  uint32_t longest = 0; ///< No longer key is wanted.
  uint64_t room = 0;    ///< Bytes of the page.
  /// From when on two keys are page enough: the host goes on from the last.
  Clock::time_point hurry;
  std::vector<emulator::Key> keys;
  int result = 0;
};

class Inbox;

/// @brief One operation. It owns what the cluster reads and writes.
///
/// Its session has it until it has ended; a listing may outlive that.
struct Flight {
  std::shared_ptr<Inbox> inbox;
  uint64_t token = 0;
  emulator::Operation operation = emulator::Operation::exist;
  emulator::KeySink sink;
  Clock::time_point due;
  /// It was told to end, or its reply was given.
  std::atomic<bool> given_up{false};
  librados::AioCompletion *completion = nullptr; ///< None of a List.
  /// Nobody is called when it ends: it is looked at.
  bool silent = false;
  std::shared_ptr<const Memory> stored; ///< Store: the value.
  librados::bufferlist value;           ///< Retrieve: what was read.
  emulator::Key key;                    ///< Retrieve: to ask again.
  uint64_t size = 0;                    ///< Retrieve: of the whole value.
  uint32_t wanted = 0;    ///< Retrieve: bytes of the value that are needed.
  bool asks_size = false; ///< Retrieve: the size is asked for.
  Listing listing;
  std::list<std::shared_ptr<Flight>>::iterator place; ///< In its session.
};

/// @brief Takes flights that have ended, from any thread; one thread empties
/// it.
class Inbox {
public:
  explicit Inbox(emulator::Wake wake) : wake_(std::move(wake)) {}

  void put(Flight &flight) {
    // Woken under the lock: who has taken the flight may end what is woken.
    const std::lock_guard<std::mutex> lock(mutex_);
    if (closed_)
      return;
    ended_.push_back(&flight);
    any_ = true;
    any_ended_.notify_one();
    wake_();
  }

  /// @brief Take what there is.
  std::vector<Flight *> take() {
    if (!any_)
      return {};
    const std::lock_guard<std::mutex> lock(mutex_);
    any_ = false;
    return std::exchange(ended_, {});
  }

  /// @brief Return once there is something to take.
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    any_ended_.wait(lock, [this] { return any_.load(); });
  }

  /// @brief From now on take nothing and wake nobody.
  void close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
  }

private:
  const emulator::Wake wake_;
  std::mutex mutex_;
  std::condition_variable any_ended_;
  std::atomic<bool> any_{false};
  std::vector<Flight *> ended_;
  bool closed_ = false;
};

} // namespace xiokv::rados
