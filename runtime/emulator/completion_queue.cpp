// SPDX-License-Identifier: MIT
#include "completion_queue.h"

namespace xiokv::emulator {

bool CompletionQueue::has_room() {
  if (ring_.next(tail_) == head_)
    read_head();
  return ring_.next(tail_) != head_;
}

/// The host may only pass over entries that were posted.
void CompletionQueue::read_head() {
  const uint32_t head = acquire(doorbell_);
  if (head == doorbell_seen_)
    return;
  doorbell_seen_ = head;
  const bool valid = head < ring_.depth && ring_.distance(head_, head) <=
                                               ring_.distance(head_, tail_);
  if (valid)
    head_ = head;
  else
    ++invalid_doorbells_;
}

void CompletionQueue::post(const Completion &completion, uint32_t sq_head) {
  completion.write(entry_, static_cast<uint16_t>(sq_head), phase_);
  dma_.write_cqe(tail_iova(), entry_);
  advance(completion.sqid);
}

void CompletionQueue::post_half(const Completion &completion,
                                uint32_t sq_head) {
  completion.write(entry_, static_cast<uint16_t>(sq_head), phase_);
  dma_.write_cqe_body(tail_iova(), entry_);
  half_posted_ = true;
}

void CompletionQueue::post_rest() {
  dma_.write_cqe_phase(tail_iova(), entry_);
  half_posted_ = false;
  advance(load<uint16_t>(entry_ + 10));
}

void CompletionQueue::advance(uint32_t sqid) {
  if (trace_.on())
    trace_.add(XIOKV_EMU_TRACE_CQE, sqid, entry_, cqe_bytes);
  tail_ = ring_.next(tail_);
  if (tail_ == 0)
    phase_ ^= 1;
}

} // namespace xiokv::emulator
