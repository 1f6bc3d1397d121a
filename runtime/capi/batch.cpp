// SPDX-License-Identifier: MIT
#include "batch.h"

#include <algorithm>
#include <climits>

#include "fault.h"

namespace xiokv::host {

namespace {

template <class Item> uint64_t column(const std::vector<Item> &items) {
  return items.empty() ? 0 : reinterpret_cast<uintptr_t>(items.data());
}

/// A key that no kernel got to, though the launch ran, is an error.
xiokv_result settled(xiokv_result result) {
  if (result.outcome == XIOKV_OUTCOME_NONE)
    result = {0, XIOKV_NO_STATUS, XIOKV_OUTCOME_ERROR, 0};
  return result;
}

} // namespace

Batch::Batch(Packed packed)
    : packed_(std::move(packed)), shared_(std::make_unique<Shared>()),
      results_(packed_.count) {}

xiokv_batch Batch::describe(const xiokv_reserved &fields) {
  xiokv_batch batch = {};
  batch.state = reinterpret_cast<uintptr_t>(&shared_->state);
  batch.stop = reinterpret_cast<uintptr_t>(&shared_->stop);
  batch.keys = column(packed_.rows);
  batch.key_lengths = column(packed_.lengths);
  batch.sizes = column(packed_.sizes);
  batch.offsets = column(packed_.offsets);
  batch.stride = packed_.stride;
  batch.iova = packed_.buffer;
  batch.results = column(results_);
  batch.count = packed_.count;
  batch.key_length = packed_.length;
  batch.value_size = packed_.size;
  batch.options = packed_.options;
  const xiokv_reserved &given = packed_.semantic;
  batch.semantic[XIOKV_SEMANTIC_CDW11] = {0, fields.cdw11, given.cdw11};
  batch.semantic[XIOKV_SEMANTIC_CDW12] = {0, fields.cdw12, given.cdw12};
  batch.semantic[XIOKV_SEMANTIC_CDW13] = {0, fields.cdw13, given.cdw13};
  return batch;
}

Waited Batch::wait(int64_t timeout_ns) {
  return launch_ == nullptr ? Waited::come : launch_->wait(timeout_ns);
}

void Batch::wait_out() {
  while (wait(forever) != Waited::come)
    continue;
}

void Batch::cancel() {
  __atomic_store_n(&shared_->stop.flag, 1, __ATOMIC_RELEASE);
}

int Batch::take(xiokv_result *results, size_t begin, size_t count) const {
  if (launch_ != nullptr && launch_->code() != 0)
    throw Fault{launch_->code(), "not run: earlier work in its stream failed; "
                                 "xiokv_stream_synchronize lets it go on"};
  size_t others = 0;
  for (size_t i = 0; i < count; ++i) {
    const xiokv_result result = settled(results_[begin + i]);
    others += result.outcome == XIOKV_OUTCOME_OK ? 0 : 1;
    if (results != nullptr)
      results[i] = result;
  }
  return static_cast<int>(std::min<size_t>(others, INT_MAX));
}

bool Batch::timed_out() const {
  return std::any_of(results_.begin(), results_.end(),
                     [](const xiokv_result &result) {
                       return result.outcome == XIOKV_OUTCOME_TIMEOUT;
                     });
}

} // namespace xiokv::host
