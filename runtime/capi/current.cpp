// SPDX-License-Identifier: MIT
#include "current.h"

#include <algorithm>
#include <climits>
#include <optional>

#include "fault.h"

namespace xiokv::host {

namespace {

constexpr xiokv_result cancelled = {0, XIOKV_NO_STATUS, XIOKV_OUTCOME_CANCELLED,
                                    0};

} // namespace

int Pending::take(xiokv_result *results, size_t n) {
  size_t there = 0;
  for (const std::shared_ptr<Batch> &batch : batches_)
    there += batch->count();
  there -= taken_;
  if (n > there)
    refuse(XIOKV_E_ARGUMENT,
           "n is %zu, and %zu keys are to come that this thread gave to "
           "xio_batched_kv_retrieve with this context",
           n, there);
  int64_t others = 0;
  std::optional<Fault> not_run;
  while (n != 0) {
    const std::shared_ptr<Batch> batch = batches_.front();
    const size_t count = std::min<size_t>(n, batch->count() - taken_);
    const size_t begin = taken_;
    batch->wait_out();
    taken_ += count;
    if (taken_ == batch->count()) {
      batches_.pop_front();
      taken_ = 0;
    }
    try {
      others += batch->take(results, begin, count);
    } catch (const Fault &fault) {
      not_run = fault;
      if (results != nullptr)
        std::fill_n(results, count, cancelled);
    }
    n -= count;
    if (results != nullptr)
      results += count;
  }
  if (not_run)
    throw *not_run;
  return static_cast<int>(std::min<int64_t>(others, INT_MAX));
}

Current &current() {
  thread_local Current mine;
  return mine;
}

} // namespace xiokv::host
