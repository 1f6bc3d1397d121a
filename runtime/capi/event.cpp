// SPDX-License-Identifier: MIT
#include "event.h"

#include <cerrno>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace xiokv::host {

namespace {

constexpr int64_t second = 1000000000;

long futex(std::atomic<uint32_t> &word, int operation, uint32_t value,
           const timespec *limit) {
  return syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word),
                 operation | FUTEX_PRIVATE_FLAG, value, limit, nullptr, 0);
}

} // namespace

void Event::set() {
  if (word_.exchange(set_, std::memory_order_acq_rel) == awaited_)
    futex(word_, FUTEX_WAKE, INT_MAX, nullptr);
}

Waited Event::wait(int64_t nanoseconds) {
  const int64_t end = nanoseconds < 0 || nanoseconds > INT64_MAX - now()
                          ? INT64_MAX
                          : now() + nanoseconds;
  while (!come()) {
    uint32_t seen = quiet_;
    word_.compare_exchange_strong(seen, awaited_, std::memory_order_acq_rel);
    if (seen == set_)
      break;
    const int64_t left = end - now();
    if (left <= 0)
      return Waited::expired;
    const timespec limit = {left / second, left % second};
    if (futex(word_, FUTEX_WAIT, awaited_, &limit) != 0 && errno == EINTR)
      return come() ? Waited::come : Waited::interrupted;
  }
  return Waited::come;
}

int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * second + time.tv_nsec;
}

} // namespace xiokv::host
