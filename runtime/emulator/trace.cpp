// SPDX-License-Identifier: MIT
#include "trace.h"

#include <algorithm>
#include <cstring>

namespace xiokv::emulator {

void Trace::start(uint64_t capacity) {
  const std::lock_guard<std::mutex> lock(mutex_);
  records_.clear();
  capacity_ = capacity;
  start_ = std::chrono::steady_clock::now();
  on_ = capacity != 0;
}

void Trace::add(xiokv_emu_trace_kind kind, uint32_t qid, const uint8_t *bytes,
                size_t size) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (records_.size() >= capacity_) {
    lost_ += on_ ? 1 : 0;
    return;
  }
  const auto elapsed = std::chrono::steady_clock::now() - start_;
  xiokv_emu_trace record = {};
  record.nanoseconds = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
  record.kind = kind;
  record.qid = qid;
  std::memcpy(record.bytes, bytes, size);
  records_.push_back(record);
}

uint64_t Trace::take(xiokv_emu_trace *out, uint64_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t taken = std::min<uint64_t>(count, records_.size());
  const auto end = records_.begin() + static_cast<std::ptrdiff_t>(taken);
  std::copy(records_.begin(), end, out);
  records_.erase(records_.begin(), end);
  return taken;
}

uint64_t Trace::lost() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return lost_;
}

} // namespace xiokv::emulator
