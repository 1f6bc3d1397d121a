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

/// @brief What a lane loaded in one look at the completion ring, in one round
/// trip: the entry at head + lane again, the one `run` places on for the first
/// time; the last lane, which never has one, loads the stop flag.
struct xiokv_look {
  xiokv_words again;
  uint32_t ahead;   ///< Dword 3 of the entry, or the flag.
  bool watches;     ///< `ahead` is of an entry.
  uint64_t claimed; ///< Lane 0, while keys are left: what all have claimed.
};

/// @brief Address of the CQ entry `step` places after the head.
XIOKV_DEVICE const void *xiokv_cqe_at(const xiokv_engine &engine,
                                      uint32_t step) {
  const uint32_t at = xiokv_wrap(engine.head, step, engine.queue.cq_depth);
  return reinterpret_cast<const char *>(engine.queue.cq) +
         static_cast<uint64_t>(at) * sizeof(xiokv_words);
}

/// @brief Whether an entry `step` places after the head carries a new phase in
/// its dword 3.
XIOKV_DEVICE bool xiokv_is_new(const xiokv_engine &engine, uint32_t step,
                               uint32_t word) {
  const bool wrapped = step >= engine.queue.cq_depth - engine.head;
  return (word >> 16 & 1u) == (engine.phase ^ (wrapped ? 1u : 0u));
}

/// @brief Lane 0's view of the clocks.
///
/// The last eighth of the deadline counts from the first look that falls into
/// it: after a stop of the process or of the machine, in which nobody could
/// make progress, a controller still gets that long.
XIOKV_DEVICE xiokv_expiry xiokv_expired(const xiokv_engine &engine) {
  xiokv_times &times = engine.shared->times;
  const uint64_t now = xiokv_clock();
  if (engine.batch->total != 0 && now - times.started >= engine.batch->total)
    return XIOKV_OVERDUE;
  const uint64_t last = engine.batch->deadline / 8;
  if (now - times.progress < engine.batch->deadline - last)
    return XIOKV_IN_TIME;
  if (times.warned <= times.progress)
    times.warned = now;
  return now - times.warned >= last ? XIOKV_STALLED : XIOKV_IN_TIME;
}

/// @brief Load what this lane watches; `idle`: nothing is encoded meanwhile.
///
/// An entry that was seen new is loaded again, after an acquire: the look that
/// saw its phase may have returned older words beside it. On a platform that
/// acquires early the look itself has acquired where it was idle; else the
/// fence has that releases the entries, as each lane loads again what it saw
/// itself.
XIOKV_DEVICE xiokv_look xiokv_look_at_ring(const xiokv_engine &engine,
                                           bool idle) {
  const uint32_t lane = xiokv_lane();
  const void *stop = reinterpret_cast<const void *>(engine.batch->stop);
  if (!XIOKV_EARLY_ACQUIRE && engine.run != 0)
    xiokv_acquire_system();
  xiokv_look look = {};
  look.watches = lane < xiokv_watched(engine);
  look.again = xiokv_load16_if(lane < engine.run, xiokv_cqe_at(engine, lane));
  const bool loads = look.watches || lane == XIOKV_LANES - 1u;
  const void *at =
      look.watches ? xiokv_cqe_at(engine, engine.run + lane) : stop;
  const uint32_t dword = look.watches ? 3u : 0u;
  if (XIOKV_EARLY_ACQUIRE && idle)
    look.ahead = xiokv_acquire32_if(loads, at, dword);
  else
    look.ahead = xiokv_peek32_if(loads, at, dword);
  if (lane == 0 && engine.exhausted == 0)
    look.claimed = xiokv_device_add64(
        &reinterpret_cast<xiokv_batch_state *>(engine.batch->state)->claimed,
        0);
  return look;
}

/// @brief Believe a completion or not; a believed one writes its key's result.
/// @return Whether the CID is free again.
template <class Command>
XIOKV_DEVICE bool xiokv_settle(const xiokv_engine &engine,
                               const xiokv_words &cqe) {
  const xiokv_queue &queue = engine.queue;
  const uint32_t cid = cqe.word[3] & 0xffffu;
  const uint32_t slot = xiokv_slot_of(engine.slots, cid);
  if (cqe.word[2] >> 16 != queue.qid) {
    xiokv_count(engine, XIOKV_TALLY_FOREIGN, 1);
    return false;
  }
  if (slot >= queue.window) {
    xiokv_count(engine, XIOKV_TALLY_UNKNOWN, 1);
    return false;
  }
  if (!xiokv_shared_swap_if(&engine.slots.live[slot], cid, XIOKV_SLOT_FREE)) {
    xiokv_count(engine, XIOKV_TALLY_STALE, 1);
    return false;
  }
  const uint32_t index = engine.slots.key[slot];
  const uint32_t status = cqe.word[3] >> 17;
  xiokv_completed done = Command::classify(
      status, cqe.word[0], xiokv_value_size(*engine.batch, index));
  if (done.value_size > queue.max_value) {
    xiokv_count(engine, XIOKV_TALLY_OVERSIZE, 1);
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

/// @brief Settle the `run` entries at the head, each by its lane; on a one-lane
/// platform one after the other.
template <class Command>
XIOKV_DEVICE void xiokv_settle_run(xiokv_engine &engine,
                                   const xiokv_look &look) {
  XIOKV_NO_UNROLL
  for (uint32_t base = 0; base < engine.run; base += XIOKV_LANES) {
    const uint32_t step = base + xiokv_lane();
    bool freed = false;
    uint32_t cid = 0;
    if (step < engine.run) {
      const xiokv_words cqe =
          XIOKV_LANES != 1 || base == 0
              ? xiokv_hold(look.again, engine.batch->queue_count >> 31)
              : xiokv_load16(xiokv_cqe_at(engine, step));
      cid = cqe.word[3] & 0xffffu;
      freed = xiokv_settle<Command>(engine, cqe);
    }
    xiokv_give_back(engine, freed, cid);
  }
}

/// @brief New entries in a row after the run, as far as this wave saw.
XIOKV_DEVICE uint32_t xiokv_new_entries(const xiokv_engine &engine,
                                        const xiokv_look &look) {
  if (XIOKV_LANES != 1)
    return xiokv_leading_run(xiokv_ballot(
        look.watches &&
        xiokv_is_new(engine, engine.run + xiokv_lane(), look.ahead)));
  const uint32_t most =
      xiokv_min(engine.in_flight - engine.run, XIOKV_SERIAL_RUN);
  uint32_t seen = 0;
  while (seen < most &&
         xiokv_is_new(
             engine, engine.run + seen,
             xiokv_load16(xiokv_cqe_at(engine, engine.run + seen)).word[3]))
    ++seen;
  return seen;
}

/// @brief Tell the other lanes the time, while loads are under way; lane 0.
XIOKV_DEVICE void xiokv_tell_time(xiokv_engine &engine) {
  if (xiokv_lane() != 0)
    return;
  engine.shared->expired[engine.round] = xiokv_expired(engine);
  engine.shared->freed[xiokv_next_round(engine)] = 0;
}

/// @brief Tell the other lanes what this one saw; they read it after a barrier.
XIOKV_DEVICE void xiokv_tell(const xiokv_engine &engine,
                             const xiokv_look &look) {
  xiokv_shared &shared = *engine.shared;
  const uint32_t seen = xiokv_new_entries(engine, look);
  if (xiokv_wave_lane() == 0)
    shared.run[engine.round][xiokv_wave()] = seen;
  if (xiokv_lane() == 0)
    shared.claimed[engine.round] = look.claimed < engine.batch->count
                                       ? static_cast<uint32_t>(look.claimed)
                                       : engine.batch->count;
  if (xiokv_lane() == XIOKV_LANES - 1u)
    shared.stop[engine.round] = look.ahead;
}

/// @brief Learn what all lanes saw; after a barrier.
/// @return New entries in a row after the run.
XIOKV_DEVICE uint32_t xiokv_learn(xiokv_engine &engine) {
  const xiokv_shared &shared = *engine.shared;
  const uint32_t round = engine.round;
  const uint32_t width = xiokv_wave_width();
  uint32_t run = shared.run[round][0];
  if (XIOKV_LANES != 1)
    for (uint32_t wave = 1; wave * width < XIOKV_LANES && run == wave * width;
         ++wave)
      run += shared.run[round][wave];
  engine.stopping |= xiokv_uniform(shared.stop[round]) != 0 ? 1u : 0u;
  engine.expired = xiokv_uniform(shared.expired[round]);
  engine.claimed = xiokv_uniform(shared.claimed[round]);
  return xiokv_uniform(run);
}

/// @brief Move the head past the entries that were settled, and hand the slots
/// of the ring back to the controller; after a barrier.
///
/// The CQ doorbell is written before the count of commands in flight falls, and
/// the next submission releases it before the SQ doorbell.
/// @return Commands that left flight.
XIOKV_DEVICE uint32_t xiokv_leave_run(xiokv_engine &engine) {
  const uint32_t run = engine.run;
  const uint32_t freed = xiokv_uniform(engine.shared->freed[engine.round]);
  const uint32_t depth = engine.queue.cq_depth;
  if (run >= depth - engine.head)
    engine.phase ^= 1u;
  engine.head = xiokv_wrap(engine.head, run, depth);
  engine.give = xiokv_wrap(engine.give, freed, engine.queue.window);
  if (xiokv_lane() == 0) {
    xiokv_store32(reinterpret_cast<void *>(engine.queue.cq_doorbell),
                  engine.head);
    if (freed != 0)
      engine.shared->times.progress = xiokv_clock();
    xiokv_count(engine, XIOKV_TALLY_COMPLETED, freed);
  }
  engine.in_flight -= freed;
  return freed;
}

/// @brief Entries that GPUs fetch from the host's memory at once: 32 bytes.
#define XIOKV_SECTOR_ENTRIES 2u

/// @brief Whether to wait for more than `seen` entries, as long as more come.
///
/// To settle many at once costs less, for the lanes and for a controller that
/// runs on a CPU, than to settle them by parts. It keeps nobody waiting where
/// nothing is left to submit, or where a controller has enough to go on with.
XIOKV_DEVICE bool xiokv_waits_for_more(const xiokv_engine &engine,
                                       uint32_t seen) {
  if (xiokv_is_last(engine))
    return seen < XIOKV_LANES - 1u;
  return seen < XIOKV_LANES / 8u * 5u &&
         engine.in_flight - seen >= 2u * XIOKV_LANES;
}

/// @brief How many of the `seen` new entries at the head to settle next.
///
/// All of them where they are all that is in flight. Else they end where a
/// sector does, because the next look loads them and what comes after them at
/// once, and two loads of one sector wait for each other.
XIOKV_DEVICE uint32_t xiokv_next_run(xiokv_engine &engine, uint32_t seen) {
  if (XIOKV_LANES == 1 || seen == engine.in_flight)
    return seen;
  const bool grows = seen > engine.seen;
  engine.seen = seen;
  if (grows && engine.closing == 0 && xiokv_waits_for_more(engine, seen))
    return 0;
  const uint32_t over = (engine.head + seen) % XIOKV_SECTOR_ENTRIES;
  return over < seen ? seen - over : seen;
}
