// SPDX-License-Identifier: MIT
#include "controller.h"

#include <algorithm>
#include <chrono>

namespace xiokv::passthrough {

namespace {

/// Between looks at doorbells that nobody rings: a command takes far longer.
void rest(uint32_t idle_rounds) {
  constexpr uint32_t yields = 200;
  constexpr std::chrono::microseconds longest{200};
  if (idle_rounds < yields)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(
        std::min(longest, std::chrono::microseconds(idle_rounds - yields + 1)));
}

} // namespace

Controller::Controller(const Options &config)
    : config_(config), device_(config), doorbells_(2 * (config.queues + 1)) {
  try {
    for (uint32_t i = 0; i < config.threads; ++i)
      threads_.emplace_back([this] { work(); });
    follower_ = std::thread([this] { follow(); });
  } catch (...) {
    stop();
    throw;
  }
}

Controller::~Controller() { stop(); }

/// What was fetched last is in `work_` before the threads that take it may end.
void Controller::stop() {
  {
    const std::lock_guard<std::mutex> lock(table_mutex_);
    stopping_ = true;
    for (const auto &[qid, queue] : queues_)
      queue->close();
    queues_.clear();
  }
  if (follower_.joinable())
    follower_.join();
  {
    const std::lock_guard<std::mutex> lock(work_mutex_);
    all_fetched_ = true;
    waiting_.notify_all();
  }
  for (std::thread &thread : threads_)
    thread.join();
  threads_.clear();
}

uint64_t Controller::doorbells() const {
  return reinterpret_cast<uintptr_t>(doorbells_.data());
}

bool Controller::create_queue(const Made &made) {
  const std::lock_guard<std::mutex> lock(table_mutex_);
  if (stopping_ || made.qid < 1 || made.qid > config_.queues ||
      queues_.count(made.qid) != 0)
    return false;
  Line *line = &doorbells_[2 * made.qid];
  queues_[made.qid] = std::make_shared<Queue>(made, &line[0].doorbell,
                                              &line[1].doorbell, traffic_);
  return true;
}

bool Controller::delete_queue(uint32_t qid) {
  std::shared_ptr<Queue> queue;
  {
    const std::lock_guard<std::mutex> lock(table_mutex_);
    const auto found = queues_.find(qid);
    if (found == queues_.end())
      return false;
    queue = found->second;
    queues_.erase(found);
  }
  queue->close();
  queue->wait();
  return true;
}

Counters Controller::counters() const {
  return {traffic_.commands, traffic_.completions, device_.failures(),
          device_.last_errno()};
}

void Controller::follow() {
  for (uint32_t idle = 0; !stopping_;) {
    if (fetch_all())
      idle = 0;
    else
      rest(idle++);
  }
}

bool Controller::fetch_all() {
  const std::lock_guard<std::mutex> table(table_mutex_);
  bool fetched = false;
  for (const auto &[qid, queue] : queues_)
    for (Work next = {queue, {}}; queue->fetch(next.sqe); fetched = true) {
      const std::lock_guard<std::mutex> lock(work_mutex_);
      work_.push_back(next);
      waiting_.notify_one();
    }
  return fetched;
}

/// What a queue that is going has not handed to the driver yet is dropped.
void Controller::work() {
  for (Work next; take(next); next = {}) {
    const Outcome outcome =
        next.queue->closed() ? Outcome{} : device_.run(next.sqe);
    next.queue->complete(next.sqe, outcome);
  }
}

bool Controller::take(Work &work) {
  std::unique_lock<std::mutex> lock(work_mutex_);
  waiting_.wait(lock, [this] { return all_fetched_ || !work_.empty(); });
  if (work_.empty())
    return false;
  work = std::move(work_.front());
  work_.pop_front();
  return true;
}

} // namespace xiokv::passthrough
