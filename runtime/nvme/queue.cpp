// SPDX-License-Identifier: MIT
#include "queue.h"

namespace xiokv::passthrough {

namespace {

using emulator::Cqe;

uint32_t read(const uint32_t *doorbell) {
  return __atomic_load_n(doorbell, __ATOMIC_ACQUIRE);
}

uint32_t next(uint32_t index, uint32_t depth) {
  return index + 1 == depth ? 0 : index + 1;
}

/// The half with the phase bit last.
void write(uint64_t address, const Cqe &cqe) {
  uint64_t *half = reinterpret_cast<uint64_t *>(address);
  __atomic_store_n(half, cqe.half[0], __ATOMIC_RELAXED);
  __atomic_store_n(half + 1, cqe.half[1], __ATOMIC_RELEASE);
}

} // namespace

Queue::Queue(const Made &made, uint32_t *tail_doorbell, uint32_t *head_doorbell,
             Traffic &traffic)
    : made_(made), tail_doorbell_(tail_doorbell), head_doorbell_(head_doorbell),
      traffic_(traffic) {
  __atomic_store_n(tail_doorbell_, 0, __ATOMIC_RELEASE);
  __atomic_store_n(head_doorbell_, 0, __ATOMIC_RELEASE);
}

bool Queue::fetch(Sqe &sqe) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint32_t tail = read(tail_doorbell_);
  if (closed_ || tail == sq_head_ || tail >= made_.sq_depth ||
      in_flight_ >= room())
    return false;
  sqe = reinterpret_cast<const Sqe *>(made_.sq)[sq_head_];
  sq_head_ = next(sq_head_, made_.sq_depth);
  ++in_flight_;
  ++traffic_.commands;
  return true;
}

/// Free entries of the completion ring; none where its doorbell makes no sense.
uint32_t Queue::room() {
  const uint32_t depth = made_.cq_depth;
  const uint32_t head = read(head_doorbell_);
  return head >= depth ? 0 : (head + depth - cq_tail_ - 1) % depth;
}

void Queue::complete(const Sqe &sqe, const Outcome &outcome) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!closed_) {
    ++traffic_.completions;
    const uint64_t last = uint64_t{outcome.status} << 1 | phase_;
    write(made_.cq + sizeof(Cqe) * cq_tail_,
          {{outcome.result, sq_head_ | uint64_t{made_.qid} << 16 |
                                uint64_t{sqe.cid()} << 32 | last << 48}});
    cq_tail_ = next(cq_tail_, made_.cq_depth);
    phase_ ^= cq_tail_ == 0 ? 1u : 0u;
  }
  if (--in_flight_ == 0)
    ended_.notify_all();
}

void Queue::close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
}

bool Queue::closed() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return closed_;
}

void Queue::wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  ended_.wait(lock, [this] { return in_flight_ == 0; });
}

} // namespace xiokv::passthrough
