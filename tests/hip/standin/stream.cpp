// SPDX-License-Identifier: MIT
#include "stream.h"

namespace standin {

using Lock = std::unique_lock<std::mutex>;

void Moment::reach(hipError_t error) {
  const Lock lock(mutex_);
  error_ = error;
  time_ = Clock::now();
  reached_.notify_all();
}

hipError_t Moment::wait() const {
  Lock lock(mutex_);
  reached_.wait(lock, [this] { return error_ != hipErrorNotReady; });
  return error_;
}

hipError_t Moment::query() const {
  const Lock lock(mutex_);
  return error_;
}

Moment::Clock::time_point Moment::time() const {
  const Lock lock(mutex_);
  return time_;
}

Stream::Stream(int on, bool with_null)
    : device(on), blocking(with_null), last_(std::make_shared<Moment>()),
      thread_([this] { run(); }) {
  last_->reach(hipSuccess);
}

Stream::~Stream() {
  {
    const Lock lock(mutex_);
    ending_ = true;
  }
  more_.notify_one();
  thread_.join();
}

MomentPointer Stream::submit(Work work, std::vector<MomentPointer> after) {
  const Lock lock(mutex_);
  if (error_ != hipSuccess) // as the last moment: at once, and not in its turn
    return last_;
  last_ = std::make_shared<Moment>();
  items_.push_back(Item{std::move(work), std::move(after), last_});
  more_.notify_one();
  return last_;
}

MomentPointer Stream::last() const {
  const Lock lock(mutex_);
  return last_;
}

void Stream::run() {
  for (;;) {
    Lock lock(mutex_);
    more_.wait(lock, [this] { return ending_ || !items_.empty(); });
    if (items_.empty())
      return;
    const Item item = std::move(items_.front());
    items_.pop_front();
    const hipError_t before = error_;
    lock.unlock();
    const hipError_t error = before == hipSuccess ? carry_out(item) : before;
    lock.lock();
    error_ = error;
    item.end->reach(error);
  }
}

hipError_t Stream::carry_out(const Item &item) {
  for (const MomentPointer &moment : item.after) {
    const hipError_t error = moment->wait();
    if (error != hipSuccess)
      return error;
  }
  return item.work();
}

} // namespace standin
