// SPDX-License-Identifier: MIT
/// @file
/// @brief What the parts of the batch engine share: its state, and outcomes of
/// keys without a completion.
#pragma once

#include "xiokv/kv_abi.h"
#include "xiokv/kv_platform.h"
#include "xiokv/kv_slots.h"

/// @brief What the lanes of a workgroup tell each other.
struct xiokv_shared {
  uint32_t run[2][XIOKV_WAVES]; ///< New entries seen by each wave.
  uint32_t stop[2];             ///< Stop flag, as the last lane saw it.
  uint32_t expired[2];          ///< enum xiokv_expiry, as lane 0 saw it.
  uint32_t freed[2];            ///< CIDs freed in this round.
  uint32_t claim;               ///< First key of the chunk just claimed.
};

/// @brief Progress of one queue through one batch.
struct xiokv_engine {
  xiokv_queue *stored; ///< The queue in memory, where state and report go.
  xiokv_queue queue;   ///< Read once: a look at the ring is one round trip.
  const xiokv_batch *batch;
  xiokv_shared *shared;
  xiokv_slots slots;
  uint32_t tail;      ///< Next SQ slot to fill.
  uint32_t head;      ///< Next CQ slot to take.
  uint32_t phase;     ///< Phase of new CQ entries at `head`.
  uint32_t take;      ///< Ring position of the oldest free CID.
  uint32_t give;      ///< Ring position where the next freed CID goes.
  uint32_t in_flight; ///< Commands whose completion was not believed yet.
  uint32_t limit;     ///< Most commands in flight.
  uint32_t next;      ///< Next key of the chunk to submit.
  uint32_t end;       ///< End of the chunk.
  uint32_t round;     ///< Parity: which half of the shared arrays is in use.
  bool exhausted;     ///< No chunk is left to claim.
  bool stopping;      ///< The stop flag was seen.
  uint64_t started;   ///< Clock at the start; lane 0.
  uint64_t progress;  ///< Clock at the last progress; lane 0.
  uint64_t warned;    ///< Clock when the deadline came near; lane 0.
  uint64_t submitted, completed, doorbells; ///< For the report.
};

XIOKV_DEVICE uint32_t xiokv_min(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

XIOKV_DEVICE xiokv_result *xiokv_result_at(const xiokv_batch &batch,
                                           uint32_t index) {
  return reinterpret_cast<xiokv_result *>(batch.results) + index;
}

/// @brief Load the stop flag.
XIOKV_DEVICE uint32_t xiokv_stop_flag(const xiokv_batch &batch) {
  return xiokv_load16(reinterpret_cast<const void *>(batch.stop)).word[0];
}

/// @brief Give key `index` an outcome for which there is no completion.
XIOKV_DEVICE void xiokv_give_up(const xiokv_batch &batch, uint32_t index,
                                xiokv_outcome outcome) {
  *xiokv_result_at(batch, index) = {0, XIOKV_NO_STATUS,
                                    static_cast<uint8_t>(outcome), 0};
}
