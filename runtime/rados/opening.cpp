// SPDX-License-Identifier: MIT
#include "opening.h"

#include <cstdlib>
#include <list>
#include <system_error>

#include <unistd.h>

#include "../emulator/no_signals.h"

namespace xiokv::rados {

/// Those whose threads are not joined yet.
class GivenUp {
public:
  /// Never destroyed: a thread may be in one of them when the process ends.
  static GivenUp &all() {
    static GivenUp &only = *new GivenUp;
    return only;
  }

  void add(std::unique_ptr<Opening> opening) {
    const std::lock_guard<std::mutex> lock(mutex_);
    forget_those_of_a_parent();
    openings_.push_back(std::move(opening));
    // Each time: what librados has made since is destroyed after this.
    std::atexit([] { all().join_all(); });
  }

  void join_ended() {
    const std::lock_guard<std::mutex> lock(mutex_);
    forget_those_of_a_parent();
    openings_.remove_if([](const std::unique_ptr<Opening> &opening) {
      if (!opening->wait(std::chrono::milliseconds::zero()))
        return false;
      opening->thread_.join();
      return true;
    });
  }

private:
  /// While librados is at work, its static objects have to stay.
  void join_all() {
    const std::lock_guard<std::mutex> lock(mutex_);
    forget_those_of_a_parent();
    for (const std::unique_ptr<Opening> &opening : openings_)
      opening->thread_.join();
    openings_.clear();
  }

  /// A child of fork has no such threads.
  void forget_those_of_a_parent() {
    if (process_ == getpid())
      return;
    process_ = getpid();
    for (std::unique_ptr<Opening> &opening : openings_)
      opening.release();
    openings_.clear();
  }

  std::mutex mutex_;
  std::list<std::unique_ptr<Opening>> openings_;
  pid_t process_ = getpid();
};

Opening::Opening(const xiokv_rados_config &config) : place_(config) {
  GivenUp::all().join_ended();
  const emulator::NoSignals during;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error &) {
    throw Refusal("the system gives no thread to connect by");
  }
}

void Opening::run() {
  std::unique_ptr<RadosStore> store;
  std::string failure;
  try {
    store = std::make_unique<RadosStore>(place_);
  } catch (const std::exception &reason) {
    failure = reason.what();
  }
  std::unique_lock<std::mutex> lock(mutex_);
  if (given_up_) {
    lock.unlock();
    store.reset();
    lock.lock();
  }
  store_ = std::move(store);
  failure_ = std::move(failure);
  over_ = true;
  changed_.notify_all();
}

bool Opening::wait(std::chrono::milliseconds longest) {
  std::unique_lock<std::mutex> lock(mutex_);
  return changed_.wait_for(lock, longest, [this] { return over_; });
}

std::unique_ptr<RadosStore> Opening::end(std::unique_ptr<Opening> opening) {
  opening->thread_.join();
  if (!opening->store_)
    throw Refusal(opening->failure_);
  return std::move(opening->store_);
}

void Opening::give_up(std::unique_ptr<Opening> opening) {
  if (opening->is_left())
    GivenUp::all().add(std::move(opening));
  else
    opening->thread_.join();
}

/// @return Whether its thread is still at work, and is told.
bool Opening::is_left() {
  const std::lock_guard<std::mutex> lock(mutex_);
  given_up_ = !over_;
  return given_up_;
}

} // namespace xiokv::rados
