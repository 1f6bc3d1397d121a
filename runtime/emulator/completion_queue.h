// SPDX-License-Identifier: MIT
/// @file
/// @brief A completion queue: never overrun, phase flipped at each wrap.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "command.h"
#include "dma.h"
#include "registers.h"
#include "trace.h"

namespace xiokv::emulator {

/// @brief Place and size of a ring.
struct Ring {
  uint64_t iova;
  uint32_t depth;

  uint32_t next(uint32_t index) const {
    return index + 1 == depth ? 0 : index + 1;
  }

  /// @brief Steps from one index on to another.
  uint32_t distance(uint32_t from, uint32_t to) const {
    return to >= from ? to - from : to + depth - from;
  }
};

/// @brief Several submission queues may post to one; each holds `mutex` while
/// it calls anything else.
class alignas(line_bytes) CompletionQueue {
public:
  CompletionQueue(Ring ring, uint32_t *head_doorbell, const Dma &dma,
                  Trace &trace)
      : ring_(ring), doorbell_(head_doorbell), dma_(dma), trace_(trace) {}

  std::mutex mutex;

  /// @brief Take notice of the head doorbell; often, since a value that no host
  /// may write is told by where the tail is at the time.
  void read_head();

  /// @brief Whether an entry may be posted.
  bool has_room() {
    if (ring_.next(tail_) == head_)
      read_head();
    return ring_.next(tail_) != head_;
  }

  void post(const Completion &completion, uint32_t sq_head) {
    const Cqe entry = completion.entry(static_cast<uint16_t>(sq_head), phase_);
    dma_.write_cqe(tail_iova(), entry);
    advance(entry);
  }

  /// @brief Write DW0..DW2 of the next entry; post_rest is to follow.
  void post_half(const Completion &completion, uint32_t sq_head);
  bool is_half_posted() const { return half_entry_.has_value(); }
  void post_rest();

  uint64_t invalid_doorbells() const { return invalid_doorbells_; }

private:
  uint64_t tail_iova() const { return ring_.iova + cqe_bytes * tail_; }

  void advance(const Cqe &entry) {
    if (trace_.on())
      trace_.add(XIOKV_EMU_TRACE_CQE, entry.sqid(), entry.bytes(), cqe_bytes);
    tail_ = ring_.next(tail_);
    if (tail_ == 0)
      phase_ ^= 1;
  }

  const Ring ring_;
  const uint32_t *const doorbell_;
  const Dma &dma_;
  Trace &trace_;
  uint32_t head_ = 0;
  uint32_t tail_ = 0;
  uint32_t phase_ = 1;
  uint32_t doorbell_seen_ = 0;
  std::optional<Cqe> half_entry_; ///< Posted but for DW3.
  uint64_t invalid_doorbells_ = 0;
};

} // namespace xiokv::emulator
