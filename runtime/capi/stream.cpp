// SPDX-License-Identifier: MIT
#include "stream.h"

#include <algorithm>
#include <vector>

#include "fault.h"
#include "process.h"

namespace xiokv::host {

namespace {

/// Streams whose threads run; under the process's mutex, never destroyed.
std::vector<std::weak_ptr<Stream>> &running() {
  static auto *const made = new std::vector<std::weak_ptr<Stream>>;
  return *made;
}

unsigned running_in = 0; ///< The process whose streams they are.

void note(const std::shared_ptr<Stream> &stream) {
  const std::lock_guard<std::mutex> lock(process_mutex());
  auto &streams = running();
  if (running_in != generation())
    streams.clear();
  running_in = generation();
  const auto gone = [](const auto &one) { return one.expired(); };
  streams.erase(std::remove_if(streams.begin(), streams.end(), gone),
                streams.end());
  streams.push_back(stream);
}

std::vector<std::shared_ptr<Stream>> all_running() {
  const std::lock_guard<std::mutex> lock(process_mutex());
  std::vector<std::shared_ptr<Stream>> found;
  if (running_in == generation())
    for (const std::weak_ptr<Stream> &one : running())
      if (std::shared_ptr<Stream> stream = one.lock())
        found.push_back(std::move(stream));
  return found;
}

std::shared_ptr<Launch> mark() {
  return std::make_shared<Launch>(nullptr, nullptr, 0, 0, nullptr);
}

} // namespace

std::shared_ptr<Stream> Stream::start() {
  const auto made = std::make_shared<Stream>();
  if (!start_thread("xiokv-stream", [made] { made->work(); }))
    refuse(XIOKV_E_SYSTEM, "cannot start a thread for a stream: the system "
                           "gives no more; close some");
  note(made);
  return made;
}

void Stream::launch(std::shared_ptr<Launch> launch) {
  push({std::move(launch), nullptr, nullptr});
}

void Stream::submit(xiokv_work work, void *argument) {
  push({nullptr, work, argument});
}

Waited Stream::settle(int64_t nanoseconds) {
  const std::shared_ptr<Launch> last = mark();
  try {
    launch(last);
  } catch (const Fault &) {
    return Waited::come; // closed by another thread, which waits for the rest
  }
  return last->wait(nanoseconds);
}

int Stream::take_failure() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(failure_, 0);
}

void Stream::close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  given_.notify_one();
}

void Stream::work() {
  for (Item item; take(item);)
    carry_out(item);
}

bool Stream::take(Item &item) {
  std::unique_lock<std::mutex> lock(mutex_);
  item = {};
  given_.wait(lock, [this] { return closed_ || !items_.empty(); });
  if (items_.empty())
    return false;
  item = std::move(items_.front());
  items_.pop_front();
  return true;
}

void Stream::carry_out(const Item &item) {
  const int failed = failure();
  if (item.launch == nullptr) {
    const int code = item.work(item.argument, failed == 0 ? 1 : 0);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failure_ == 0 && failed == 0)
      failure_ = code;
  } else if (failed != 0) {
    item.launch->skip(XIOKV_E_STREAM);
  } else {
    item.launch->run();
  }
}

void Stream::push(Item item) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closed_)
    refuse(XIOKV_E_HANDLE, "this stream was closed: it takes no work");
  items_.push_back(std::move(item));
  given_.notify_one();
}

int Stream::failure() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

Waited settle_all(int64_t nanoseconds) {
  const int64_t begin = now();
  for (const std::shared_ptr<Stream> &stream : all_running()) {
    const int64_t left =
        nanoseconds < 0 ? forever
                        : std::max<int64_t>(0, nanoseconds - (now() - begin));
    const Waited waited = stream->settle(left);
    if (waited != Waited::come)
      return waited;
  }
  return Waited::come;
}

} // namespace xiokv::host
