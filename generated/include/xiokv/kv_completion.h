// Copied by `xiokv-gen build` from the static templates of xiokv; do not edit.
// clang-format off
// SPDX-License-Identifier: MIT
/// @file
/// @brief The engine's way in: look at the completion ring, believe what can be
/// believed, free the CIDs, ring the CQ doorbell.
#pragma once

#include "xiokv/kv_batch_request.h"
#include "xiokv/kv_engine_state.h"

/// @brief Completions that one lane may take at once on a one-lane platform.
#define XIOKV_SERIAL_RUN 64u

/// @brief Which limit of time has passed.
enum xiokv_expiry {
  XIOKV_IN_TIME = 0,
  XIOKV_STALLED = 1, ///< No progress for the deadline.
  XIOKV_OVERDUE = 2, ///< The whole batch has taken its total limit.
};

/// @brief What one look at the completion ring found.
struct xiokv_look {
  uint32_t run;     ///< New entries in a row from `head`.
  uint32_t expired; ///< enum xiokv_expiry.
};

/// @brief Address of the CQ entry `step` places after the head.
XIOKV_DEVICE const void *xiokv_cqe_at(const xiokv_engine &engine,
                                      uint32_t step) {
  const uint32_t at = xiokv_wrap(engine.head, step, engine.queue.cq_depth);
  return reinterpret_cast<const char *>(engine.queue.cq) +
         static_cast<uint64_t>(at) * sizeof(xiokv_words);
}

/// @brief Whether an entry `step` places after the head carries a new phase.
XIOKV_DEVICE bool xiokv_is_new(const xiokv_engine &engine, uint32_t step,
                               const xiokv_words &words) {
  const bool wrapped = step >= engine.queue.cq_depth - engine.head;
  return (words.word[3] >> 16 & 1u) == (engine.phase ^ (wrapped ? 1u : 0u));
}

/// @brief Lane 0's view of the clocks.
///
/// The last eighth of the deadline counts from the first look that falls into
/// it: after a stop of the process or of the machine, in which nobody could
/// make progress, a controller still gets that long.
XIOKV_DEVICE xiokv_expiry xiokv_expired(xiokv_engine &engine) {
  const uint64_t now = xiokv_clock();
  if (engine.batch->total != 0 && now - engine.started >= engine.batch->total)
    return XIOKV_OVERDUE;
  const uint64_t last = engine.batch->deadline / 8;
  if (now - engine.progress < engine.batch->deadline - last)
    return XIOKV_IN_TIME;
  if (engine.warned <= engine.progress)
    engine.warned = now;
  return now - engine.warned >= last ? XIOKV_STALLED : XIOKV_IN_TIME;
}

/// @brief One lane looks at one entry after the other.
XIOKV_DEVICE uint32_t xiokv_look_serial(xiokv_engine &engine) {
  const uint32_t most = xiokv_min(engine.in_flight, XIOKV_SERIAL_RUN);
  uint32_t run = 0;
  while (run < most &&
         xiokv_is_new(engine, run, xiokv_load16(xiokv_cqe_at(engine, run))))
    ++run;
  engine.shared->stop[engine.round] = xiokv_stop_flag(*engine.batch);
  return run;
}

/// @brief Every lane looks at one entry; the last lane looks at the stop flag
/// in the same access, so that it costs no round trip of its own.
/// @return New entries in a row that this wave saw.
XIOKV_DEVICE uint32_t xiokv_look_wide(xiokv_engine &engine) {
  const uint32_t lane = xiokv_lane();
  const bool watches = lane < xiokv_min(engine.in_flight, XIOKV_LANES - 1u);
  const bool stops = lane == XIOKV_LANES - 1u;
  bool fresh = false;
  if (watches || stops) {
    const xiokv_words words =
        xiokv_load16(stops ? reinterpret_cast<const void *>(engine.batch->stop)
                           : xiokv_cqe_at(engine, lane));
    fresh = watches && xiokv_is_new(engine, lane, words);
    if (stops)
      engine.shared->stop[engine.round] = words.word[0];
  }
  return xiokv_leading_run(xiokv_ballot(fresh));
}

/// @brief Look at the completion ring once; all lanes learn the same.
XIOKV_DEVICE xiokv_look xiokv_look_at_ring(xiokv_engine &engine) {
  xiokv_shared &shared = *engine.shared;
  engine.round ^= 1u;
  const uint32_t round = engine.round;
  const uint32_t mine =
      XIOKV_LANES == 1 ? xiokv_look_serial(engine) : xiokv_look_wide(engine);
  if (xiokv_wave_lane() == 0)
    shared.run[round][xiokv_wave()] = mine;
  if (xiokv_lane() == 0) {
    shared.expired[round] = xiokv_expired(engine);
    shared.freed[round] = 0;
  }
  xiokv_barrier();
  const uint32_t width = xiokv_wave_width();
  uint32_t run = shared.run[round][0];
  if (XIOKV_LANES != 1)
    for (uint32_t wave = 1; wave * width < XIOKV_LANES && run == wave * width;
         ++wave)
      run += shared.run[round][wave];
  engine.stopping = engine.stopping || shared.stop[round] != 0;
  return xiokv_look{run, shared.expired[round]};
}

/// @brief Count a completion that is not believed.
XIOKV_DEVICE void xiokv_count(uint64_t &counter) {
  xiokv_device_add64(&counter, 1);
}

/// @brief Believe a completion or not; a believed one writes its key's result.
/// @return Whether the CID is free again.
template <class Command>
XIOKV_DEVICE bool xiokv_settle(const xiokv_engine &engine,
                               const xiokv_words &cqe) {
  const xiokv_queue &queue = engine.queue;
  xiokv_queue_report &report = engine.stored->report;
  const uint32_t cid = cqe.word[3] & 0xffffu;
  const uint32_t slot = xiokv_slot_of(engine.slots, cid);
  if (cqe.word[2] >> 16 != queue.qid) {
    xiokv_count(report.foreign);
    return false;
  }
  if (slot >= queue.window) {
    xiokv_count(report.unknown);
    return false;
  }
  if (!xiokv_shared_swap_if(&engine.slots.live[slot], cid, XIOKV_SLOT_FREE)) {
    xiokv_count(report.stale);
    return false;
  }
  const uint32_t index = engine.slots.key[slot];
  const uint32_t status = cqe.word[3] >> 17;
  xiokv_completed done = Command::classify(
      status, cqe.word[0], xiokv_value_size(*engine.batch, index));
  if (done.value_size > queue.max_value) {
    xiokv_count(report.oversize);
    done = {0, XIOKV_OUTCOME_ERROR};
  }
  *xiokv_result_at(*engine.batch,
                   index) = {done.value_size, static_cast<uint16_t>(status),
                             static_cast<uint8_t>(done.outcome), 0};
  return true;
}

/// @brief Put the CIDs that this wave's lanes freed back into the ring.
XIOKV_DEVICE void xiokv_give_back(xiokv_engine &engine, bool freed,
                                  uint32_t cid) {
  const uint64_t votes = xiokv_ballot(freed);
  uint32_t base = 0;
  if (xiokv_wave_lane() == 0 && votes != 0)
    base = xiokv_shared_add(&engine.shared->freed[engine.round],
                            xiokv_count_ones(votes));
  base = xiokv_first_lane(base);
  if (!freed)
    return;
  const uint64_t below = votes & ((UINT64_C(1) << xiokv_wave_lane()) - 1u);
  const uint32_t rank = xiokv_count_ones(below);
  engine.slots
      .free_ring[xiokv_wrap(engine.give, base + rank, engine.queue.window)] =
      xiokv_next_cid(engine.slots, cid);
}

/// @brief Take the `run` new entries at the head of the completion ring.
///
/// An entry is read again after the acquire fence: the look that saw its phase
/// may have returned older words beside it. The CQ doorbell is written before
/// the count of commands in flight falls, and a refill releases it before the
/// SQ doorbell.
/// @return Commands that left flight.
template <class Command>
XIOKV_DEVICE uint32_t xiokv_take_run(xiokv_engine &engine, uint32_t run) {
  xiokv_acquire_system();
  for (uint32_t base = 0; base < run; base += XIOKV_LANES) {
    const uint32_t step = base + xiokv_lane();
    bool freed = false;
    uint32_t cid = 0;
    if (step < run) {
      const xiokv_words cqe = xiokv_load16(xiokv_cqe_at(engine, step));
      cid = cqe.word[3] & 0xffffu;
      freed = xiokv_settle<Command>(engine, cqe);
    }
    xiokv_give_back(engine, freed, cid);
  }
  xiokv_barrier();
  const uint32_t freed = engine.shared->freed[engine.round];
  const uint32_t depth = engine.queue.cq_depth;
  if (run >= depth - engine.head)
    engine.phase ^= 1u;
  engine.head = xiokv_wrap(engine.head, run, depth);
  engine.give = xiokv_wrap(engine.give, freed, engine.queue.window);
  if (xiokv_lane() == 0) {
    xiokv_store32(reinterpret_cast<void *>(engine.queue.cq_doorbell),
                  engine.head);
    if (freed != 0)
      engine.progress = xiokv_clock();
  }
  engine.in_flight -= freed;
  engine.completed += freed;
  return freed;
}
