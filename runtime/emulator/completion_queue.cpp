// SPDX-License-Identifier: MIT
#include "completion_queue.h"

namespace xiokv::emulator {

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

void CompletionQueue::post_half(const Completion &completion,
                                uint32_t sq_head) {
  half_entry_ = completion.entry(static_cast<uint16_t>(sq_head), phase_);
  dma_.write_cqe_body(tail_iova(), *half_entry_);
}

void CompletionQueue::post_rest() {
  dma_.write_cqe_phase(tail_iova(), *half_entry_);
  advance(*half_entry_);
  half_entry_.reset();
}

} // namespace xiokv::emulator
