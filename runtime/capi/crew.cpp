// SPDX-License-Identifier: MIT
#include "crew.h"

#include <condition_variable>
#include <utility>
#include <vector>

#include "event.h"
#include "process.h"

namespace xiokv::host {

namespace {

/// One run of many parts.
struct Parts {
  const std::function<void(uint32_t)> &part;
  std::atomic<uint32_t> left;
  Event ended;
};

class Worker;

/// Idle threads, those of this process only; under the process's mutex.
struct Idle {
  std::vector<Worker *> workers;
  unsigned generation = 0;
};

Idle &idle() {
  static Idle *const made = new Idle;
  return *made;
}

/// A thread that waits for a part; it is never destroyed.
class Worker {
public:
  void work() {
    for (;;) {
      const Task task = next();
      task.parts->part(task.number);
      back();
      // The parts may be gone once none of them is left.
      if (--task.parts->left == 0)
        task.parts->ended.set();
    }
  }

  void give(Parts *parts, uint32_t number) {
    const std::lock_guard<std::mutex> lock(mutex_);
    task_ = {parts, number};
    given_.notify_one();
  }

private:
  struct Task {
    Parts *parts;
    uint32_t number;
  };

  Task next() {
    std::unique_lock<std::mutex> lock(mutex_);
    given_.wait(lock, [this] { return task_.parts != nullptr; });
    return std::exchange(task_, Task{nullptr, 0});
  }

  void back() {
    const std::lock_guard<std::mutex> lock(process_mutex());
    idle().workers.push_back(this);
  }

  std::mutex mutex_;
  std::condition_variable given_;
  Task task_{nullptr, 0};
};

Worker *take_idle() {
  const std::lock_guard<std::mutex> lock(process_mutex());
  Idle &there = idle();
  if (there.generation != generation())
    there = {{}, generation()};
  if (there.workers.empty())
    return nullptr;
  Worker *const taken = there.workers.back();
  there.workers.pop_back();
  return taken;
}

Worker *start_worker() {
  auto *const made = new Worker;
  if (start_thread("xiokv-queue", [made] { made->work(); }))
    return made;
  delete made;
  return nullptr;
}

} // namespace

uint32_t run_on_crew(uint32_t count,
                     const std::function<void(uint32_t)> &part) {
  if (count == 0)
    return 0;
  Parts parts{part, {count}, {}};
  uint32_t next = 1;
  for (; next < count; ++next) {
    Worker *worker = take_idle();
    if (worker == nullptr && (worker = start_worker()) == nullptr)
      break;
    worker->give(&parts, next);
  }
  const uint32_t sharing = count - next;
  part(0);
  for (; next < count; ++next)
    part(next);
  // Only the last to leave touches the event, and this thread leaves, too.
  if ((parts.left -= 1 + sharing) != 0)
    parts.ended.wait_out();
  return sharing;
}

} // namespace xiokv::host
