// SPDX-License-Identifier: MIT
/// @file
/// @brief What the parts of the batch engine share: its state, and outcomes of
/// keys without a completion.
#pragma once

#include "xiokv/kv_abi.h"
#include "xiokv/kv_batch_request.h"
#include "xiokv/kv_platform.h"
#include "xiokv/kv_slots.h"

/// @brief Counters of a batch, in the order of struct xiokv_queue_report.
enum xiokv_tally {
  XIOKV_TALLY_SUBMITTED,
  XIOKV_TALLY_COMPLETED,
  XIOKV_TALLY_STALE,
  XIOKV_TALLY_UNKNOWN,
  XIOKV_TALLY_FOREIGN,
  XIOKV_TALLY_OVERSIZE,
  XIOKV_TALLY_TIMEOUTS,
  XIOKV_TALLY_DOORBELLS,
  XIOKV_TALLIES,
};
static_assert(sizeof(xiokv_queue_report) == XIOKV_TALLIES * sizeof(uint64_t),
              "a tally for every counter of the report");

/// @brief Rounds whose messages may be in use at once: lanes that are slow to
/// leave a barrier still read the last one while others write the next, and
/// clear what the one after it adds up.
#define XIOKV_ROUNDS 3u

/// @brief When things happened, by the clock; lane 0's alone.
struct xiokv_times {
  uint64_t started;  ///< At the start.
  uint64_t progress; ///< At the first doorbell or the last progress.
  uint64_t warned;   ///< When the deadline came near.
  bool began;        ///< A doorbell was rung.
};

/// @brief What the lanes of a workgroup tell each other.
struct xiokv_shared {
  xiokv_words entries[XIOKV_LANES * 4u]; ///< SQEs on their way, a quarter each.
  uint32_t run[XIOKV_ROUNDS][XIOKV_WAVES]; ///< New entries seen by each wave.
  uint32_t freed[XIOKV_ROUNDS];            ///< CIDs freed in a round.
  uint32_t stop[XIOKV_ROUNDS];             ///< The flag, as the last lane saw.
  uint32_t expired[XIOKV_ROUNDS]; ///< enum xiokv_expiry, as lane 0 saw it.
  uint32_t claimed[XIOKV_ROUNDS]; ///< Keys claimed, as lane 0 saw it.
  xiokv_times times;
  uint32_t claim;                ///< First key of the chunk just claimed.
  uint32_t rest;                 ///< First key that no queue has claimed.
  uint32_t stopped;              ///< The flag, as lane 0 saw it at the end.
  uint32_t tally[XIOKV_TALLIES]; ///< What this batch adds to the report.
  xiokv_queue queue;             ///< As it was before this batch.
};

/// @brief Progress of one queue through one batch.
struct xiokv_engine {
  xiokv_queue queue; ///< Read once: a look at the ring is one round trip.
  const xiokv_batch *arguments; ///< The batch as the kernel was given it.
  const xiokv_batch *batch;     ///< The same, see xiokv_anew.
  xiokv_shared *shared;
  xiokv_slots slots;
  xiokv_inputs ahead; ///< Of key `next` + lane, read before they are needed.
  uint32_t tail;      ///< Next SQ slot to fill.
  uint32_t head;      ///< Next CQ slot to take.
  uint32_t phase;     ///< Phase of new CQ entries at `head`.
  uint32_t run;       ///< Entries in a row from `head` to settle next.
  uint32_t seen;      ///< New entries in a row at the last look.
  uint32_t take;      ///< Ring position of the oldest free CID.
  uint32_t give;      ///< Ring position where the next freed CID goes.
  uint32_t in_flight; ///< Commands whose completion was not believed yet.
  uint32_t limit;     ///< Most commands in flight.
  uint32_t next;      ///< Next key of the chunk to submit.
  uint32_t end;       ///< End of the chunk.
  uint32_t claimed;   ///< Keys that all queues had claimed at the last look.
  uint32_t round;     ///< Which of XIOKV_ROUNDS messages is in use.
  uint32_t expired;   ///< enum xiokv_expiry, at the last look.
  uint32_t exhausted; ///< 1: no chunk is left to claim.
  uint32_t stopping;  ///< 1: the stop flag was seen.
  uint32_t closing;   ///< 1: a limit of time has passed.
};

XIOKV_DEVICE uint32_t xiokv_min(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

XIOKV_DEVICE xiokv_result *xiokv_result_at(const xiokv_batch &batch,
                                           uint32_t index) {
  return reinterpret_cast<xiokv_result *>(batch.results) + index;
}

/// @brief Add to a counter of the report; any lane.
XIOKV_DEVICE void xiokv_count(const xiokv_engine &engine, xiokv_tally tally,
                              uint32_t more) {
  xiokv_shared_add(&engine.shared->tally[tally], more);
}

/// @brief Entries after the run that a look loads, a lane each; the last lane
/// has none.
XIOKV_DEVICE uint32_t xiokv_watched(const xiokv_engine &engine) {
  return xiokv_min(engine.in_flight - engine.run, XIOKV_LANES - 1u);
}

/// @brief The round after this one, of those whose messages are kept.
XIOKV_DEVICE uint32_t xiokv_next_round(const xiokv_engine &engine) {
  return engine.round + 1u == XIOKV_ROUNDS ? 0 : engine.round + 1u;
}

/// @brief Whether nothing is left to submit.
XIOKV_DEVICE bool xiokv_is_last(const xiokv_engine &engine) {
  return engine.next == engine.end && engine.exhausted != 0;
}

/// @brief Read ahead what the batch says about key `next` + lane.
XIOKV_DEVICE void xiokv_read_ahead(xiokv_engine &engine, uint32_t next,
                                   uint32_t end) {
  if (end != next)
    engine.ahead = xiokv_read_inputs(*engine.batch, next + xiokv_lane(),
                                     end - next > xiokv_lane());
}

/// @brief Give key `index` an outcome for which there is no completion.
XIOKV_DEVICE void xiokv_give_up(const xiokv_batch &batch, uint32_t index,
                                xiokv_outcome outcome) {
  *xiokv_result_at(batch, index) = {0, XIOKV_NO_STATUS,
                                    static_cast<uint8_t>(outcome), 0};
}
