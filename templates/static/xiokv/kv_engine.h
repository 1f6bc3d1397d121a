// SPDX-License-Identifier: MIT
/// @file
/// @brief The batch engine: one workgroup drives one queue pair.
///
/// All lanes encode, one doorbell covers what they wrote; all lanes watch the
/// completion ring, and the contiguous run of new entries is taken at once. A
/// CID, never a position, says which key completed. Freed slots are refilled
/// without waiting for the rest of the batch.
///
/// Every variable of xiokv_engine has the same value in all lanes, except where
/// its comment says otherwise; every branch around a barrier depends on such
/// values alone.
///
/// `Command` supplies two static functions:
///   void encode(xiokv_sqe &sqe, const xiokv_request &request);
///   xiokv_completed classify(uint32_t status, uint32_t dw0, uint32_t size);
#pragma once

#include "xiokv/kv_abi.h"
#include "xiokv/kv_batch_request.h"
#include "xiokv/kv_platform.h"
#include "xiokv/kv_prp.h"
#include "xiokv/kv_slots.h"

/// @brief Completions that one lane may take at once on a one-lane platform.
#define XIOKV_SERIAL_RUN 64u

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
  xiokv_queue *queue;
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
  uint64_t submitted, completed, doorbells; ///< For the report.
};

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

XIOKV_DEVICE uint32_t xiokv_min(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

XIOKV_DEVICE xiokv_result *xiokv_result_at(const xiokv_batch &batch,
                                           uint32_t index) {
  return reinterpret_cast<xiokv_result *>(batch.results) + index;
}

/// @brief Give key `index` an outcome for which there is no completion.
XIOKV_DEVICE void xiokv_give_up(const xiokv_batch &batch, uint32_t index,
                                xiokv_outcome outcome) {
  *xiokv_result_at(batch, index) = {0, XIOKV_NO_STATUS,
                                    static_cast<uint8_t>(outcome), 0};
}

/// @brief Claim the next chunk of keys, or find that none is left.
XIOKV_DEVICE void xiokv_claim(xiokv_engine &engine) {
  const xiokv_batch &batch = *engine.batch;
  if (batch.queue_count == 1) {
    engine.next = 0;
    engine.end = batch.count;
    engine.exhausted = true;
    return;
  }
  if (xiokv_lane() == 0) {
    xiokv_batch_state *state =
        reinterpret_cast<xiokv_batch_state *>(batch.state);
    const uint64_t first = xiokv_device_add64(&state->claimed, batch.chunk);
    engine.shared->claim =
        first < batch.count ? static_cast<uint32_t>(first) : batch.count;
  }
  xiokv_barrier();
  const uint32_t first = engine.shared->claim;
  engine.exhausted = first == batch.count;
  engine.next = first;
  engine.end = first + xiokv_min(batch.chunk, batch.count - first);
}

/// @brief Four dwords of an entry, from `first` on.
XIOKV_DEVICE xiokv_words xiokv_quarter(const xiokv_sqe &sqe, uint32_t first) {
  return xiokv_words{
      {sqe.dw[first], sqe.dw[first + 1], sqe.dw[first + 2], sqe.dw[first + 3]}};
}

/// @brief Encode one key's command into SQ slot `at` under a CID.
///
/// The stores are written out: a loop that the compiler leaves a loop would
/// make the entry pass through memory.
template <class Command>
XIOKV_DEVICE void xiokv_submit_one(const xiokv_engine &engine, uint32_t at,
                                   uint32_t cid, uint32_t index) {
  xiokv_sqe sqe;
  Command::encode(sqe,
                  xiokv_make_request(*engine.queue, *engine.batch, index, cid,
                                     xiokv_slot_of(engine.slots, cid)));
  xiokv_sqe *ring = reinterpret_cast<xiokv_sqe *>(engine.queue->sq);
  xiokv_store16(&ring[at].dw[0], xiokv_quarter(sqe, 0));
  xiokv_store16(&ring[at].dw[4], xiokv_quarter(sqe, 4));
  xiokv_store16(&ring[at].dw[8], xiokv_quarter(sqe, 8));
  xiokv_store16(&ring[at].dw[12], xiokv_quarter(sqe, 12));
}

/// @brief Submit as many keys as there is room for, under one doorbell.
///
/// Every wave releases its own stores before the barrier: on gfx90a and gfx942
/// a barrier does not wait for another wave's stores.
template <class Command> XIOKV_DEVICE void xiokv_refill(xiokv_engine &engine) {
  const uint32_t room =
      xiokv_min(engine.limit - engine.in_flight, engine.end - engine.next);
  if (room == 0)
    return;
  const xiokv_queue &queue = *engine.queue;
  for (uint32_t i = xiokv_lane(); i < room; i += XIOKV_LANES) {
    const uint32_t index = engine.next + i;
    const uint32_t cid = xiokv_slot_take(
        engine.slots, xiokv_wrap(engine.take, i, queue.window), index);
    xiokv_submit_one<Command>(
        engine, xiokv_wrap(engine.tail, i, queue.sq_depth), cid, index);
  }
  xiokv_release_system();
  xiokv_barrier();
  engine.tail = xiokv_wrap(engine.tail, room, queue.sq_depth);
  engine.take = xiokv_wrap(engine.take, room, queue.window);
  engine.next += room;
  if (xiokv_lane() == 0) {
    xiokv_store32(reinterpret_cast<void *>(queue.sq_doorbell), engine.tail);
    if (engine.submitted == 0)
      engine.progress = xiokv_clock();
  }
  engine.in_flight += room;
  engine.submitted += room;
  engine.doorbells += 1;
}

/// @brief Address of the CQ entry `step` places after the head.
XIOKV_DEVICE const void *xiokv_cqe_at(const xiokv_engine &engine,
                                      uint32_t step) {
  const uint32_t at = xiokv_wrap(engine.head, step, engine.queue->cq_depth);
  return reinterpret_cast<const char *>(engine.queue->cq) +
         static_cast<uint64_t>(at) * sizeof(xiokv_words);
}

/// @brief Whether an entry `step` places after the head carries a new phase.
XIOKV_DEVICE bool xiokv_is_new(const xiokv_engine &engine, uint32_t step,
                               const xiokv_words &words) {
  const bool wrapped = step >= engine.queue->cq_depth - engine.head;
  return (words.word[3] >> 16 & 1u) == (engine.phase ^ (wrapped ? 1u : 0u));
}

/// @brief Lane 0's view of the clocks.
XIOKV_DEVICE xiokv_expiry xiokv_expired(const xiokv_engine &engine) {
  const uint64_t now = xiokv_clock();
  if (engine.batch->total != 0 && now - engine.started >= engine.batch->total)
    return XIOKV_OVERDUE;
  return now - engine.progress >= engine.batch->deadline ? XIOKV_STALLED
                                                         : XIOKV_IN_TIME;
}

/// @brief One lane looks at one entry after the other.
XIOKV_DEVICE uint32_t xiokv_look_serial(xiokv_engine &engine) {
  const uint32_t most = xiokv_min(engine.in_flight, XIOKV_SERIAL_RUN);
  uint32_t run = 0;
  while (run < most &&
         xiokv_is_new(engine, run, xiokv_load16(xiokv_cqe_at(engine, run))))
    ++run;
  const void *stop = reinterpret_cast<const void *>(engine.batch->stop);
  engine.shared->stop[engine.round] = xiokv_load16(stop).word[0];
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
  xiokv_queue &queue = *engine.queue;
  const uint32_t cid = cqe.word[3] & 0xffffu;
  const uint32_t slot = xiokv_slot_of(engine.slots, cid);
  if (cqe.word[2] >> 16 != queue.qid) {
    xiokv_count(queue.report.foreign);
    return false;
  }
  if (slot >= queue.window) {
    xiokv_count(queue.report.unknown);
    return false;
  }
  if (!xiokv_shared_swap_if(&engine.slots.live[slot], cid, XIOKV_SLOT_FREE)) {
    xiokv_count(queue.report.stale);
    return false;
  }
  const uint32_t index = engine.slots.key[slot];
  const uint32_t status = cqe.word[3] >> 17;
  xiokv_completed done = Command::classify(
      status, cqe.word[0], xiokv_value_size(*engine.batch, index));
  if (done.value_size > queue.max_value) {
    xiokv_count(queue.report.oversize);
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
      .free_ring[xiokv_wrap(engine.give, base + rank, engine.queue->window)] =
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
  const uint32_t depth = engine.queue->cq_depth;
  if (run >= depth - engine.head)
    engine.phase ^= 1u;
  engine.head = xiokv_wrap(engine.head, run, depth);
  engine.give = xiokv_wrap(engine.give, freed, engine.queue->window);
  if (xiokv_lane() == 0) {
    xiokv_store32(reinterpret_cast<void *>(engine.queue->cq_doorbell),
                  engine.head);
    if (freed != 0)
      engine.progress = xiokv_clock();
  }
  engine.in_flight -= freed;
  engine.completed += freed;
  return freed;
}

/// @brief Take what has arrived by now; bounded by the size of the ring.
template <class Command>
XIOKV_DEVICE void xiokv_take_last(xiokv_engine &engine) {
  uint32_t taken = 0;
  while (engine.in_flight != 0 && taken < engine.queue->cq_depth) {
    const uint32_t run = xiokv_look_at_ring(engine).run;
    if (run == 0)
      return;
    xiokv_take_run<Command>(engine, run);
    taken += run;
  }
}

/// @brief Give every command in flight TIMEOUT and mark the queue dead.
XIOKV_DEVICE void xiokv_abandon(xiokv_engine &engine) {
  const xiokv_slots &slots = engine.slots;
  for (uint32_t slot = xiokv_lane(); slot < slots.window; slot += XIOKV_LANES)
    if (slots.live[slot] != XIOKV_SLOT_FREE)
      xiokv_give_up(*engine.batch, slots.key[slot], XIOKV_OUTCOME_TIMEOUT);
  if (xiokv_lane() == 0) {
    engine.queue->state = XIOKV_QUEUE_DEAD;
    engine.queue->report.timeouts += engine.in_flight;
  }
}

/// @brief Submit and take completions until nothing is left to do.
template <class Command> XIOKV_DEVICE void xiokv_drive(xiokv_engine &engine) {
  for (;;) {
    if (engine.next == engine.end && !engine.exhausted && !engine.stopping &&
        engine.in_flight < engine.limit)
      xiokv_claim(engine);
    if (!engine.stopping)
      xiokv_refill<Command>(engine);
    if (engine.in_flight == 0 && (engine.exhausted || engine.stopping))
      return;
    const xiokv_look look = xiokv_look_at_ring(engine);
    uint32_t freed = 0;
    if (look.run != 0)
      freed = xiokv_take_run<Command>(engine, look.run);
    else
      xiokv_pause();
    if (look.expired == XIOKV_OVERDUE ||
        (look.expired == XIOKV_STALLED && freed == 0)) {
      xiokv_take_last<Command>(engine);
      if (engine.in_flight != 0)
        xiokv_abandon(engine);
      return;
    }
  }
}

/// @brief Read the queue's state into registers; nothing is in flight.
XIOKV_DEVICE void xiokv_begin(xiokv_engine &engine) {
  const xiokv_queue &queue = *engine.queue;
  engine.tail = queue.sq_tail;
  engine.head = queue.cq_head;
  engine.phase = queue.cq_phase;
  engine.take = engine.give = queue.free_position;
  engine.in_flight = 0;
  engine.limit =
      xiokv_min(xiokv_min(queue.sq_depth, queue.cq_depth), queue.window + 1u) -
      1u;
  engine.next = engine.end = engine.round = 0;
  engine.exhausted = engine.stopping = false;
  engine.started = engine.progress = xiokv_clock();
  engine.submitted = engine.completed = engine.doorbells = 0;
  for (uint32_t i = xiokv_lane(); i < queue.window; i += XIOKV_LANES)
    engine.slots.live[i] = XIOKV_SLOT_FREE;
}

/// @brief Write the state back for the next launch; lane 0.
XIOKV_DEVICE void xiokv_save(const xiokv_engine &engine) {
  xiokv_queue &queue = *engine.queue;
  queue.sq_tail = engine.tail;
  queue.cq_head = engine.head;
  queue.cq_phase = engine.phase;
  queue.free_position = engine.take;
  queue.report.submitted += engine.submitted;
  queue.report.completed += engine.completed;
  queue.report.doorbells += engine.doorbells;
}

/// @brief Give keys [first, end) the outcome of never having been submitted.
XIOKV_DEVICE void xiokv_leave_keys(const xiokv_engine &engine, uint32_t first,
                                   uint32_t end) {
  const xiokv_outcome outcome =
      engine.stopping ? XIOKV_OUTCOME_CANCELLED : XIOKV_OUTCOME_TIMEOUT;
  for (uint64_t i = static_cast<uint64_t>(first) + xiokv_lane(); i < end;
       i += XIOKV_LANES)
    xiokv_give_up(*engine.batch, static_cast<uint32_t>(i), outcome);
  if (xiokv_lane() == 0 && !engine.stopping)
    engine.queue->report.timeouts += end - first;
}

/// @brief Leave the batch. The last queue out answers for keys that no queue
/// claimed, so that no key is left without an outcome.
XIOKV_DEVICE void xiokv_leave(xiokv_engine &engine) {
  const xiokv_batch &batch = *engine.batch;
  xiokv_leave_keys(engine, engine.next, engine.end);
  if (batch.queue_count == 1) {
    if (!engine.exhausted)
      xiokv_leave_keys(engine, 0, batch.count);
    return;
  }
  if (xiokv_lane() == 0) {
    xiokv_batch_state *state =
        reinterpret_cast<xiokv_batch_state *>(batch.state);
    const bool last =
        xiokv_device_add32(&state->exited, 1) + 1u == batch.queue_count;
    const uint64_t first =
        last ? xiokv_device_add64(&state->claimed, batch.count) : batch.count;
    engine.shared->claim =
        first < batch.count ? static_cast<uint32_t>(first) : batch.count;
  }
  xiokv_barrier();
  xiokv_leave_keys(engine, engine.shared->claim, batch.count);
}

/// @brief Run a batch on one queue with the tables at hand.
template <class Command>
XIOKV_DEVICE void xiokv_run_with(xiokv_engine &engine) {
  xiokv_begin(engine);
  xiokv_barrier();
  if (engine.queue->state == XIOKV_QUEUE_READY)
    xiokv_drive<Command>(engine);
  if (xiokv_lane() == 0)
    xiokv_save(engine);
  xiokv_leave(engine);
}

/// @brief Run a batch on its queue `number`; all lanes of one workgroup.
///
/// Tables are kept in shared memory where the window fits. Only the free ring
/// outlives the launch: nothing is in flight between launches.
template <class Command>
XIOKV_DEVICE void xiokv_run_batch(const xiokv_batch &batch, uint32_t number) {
  XIOKV_SHARED_VARIABLE(xiokv_shared, shared);
  xiokv_engine engine;
  engine.queue = reinterpret_cast<xiokv_queue *>(batch.queues) + number;
  engine.batch = &batch;
  engine.shared = &shared;
  engine.slots = xiokv_slots_in_queue(*engine.queue);
#if XIOKV_SHARED_WINDOW != 0
  XIOKV_SHARED_VARIABLE(xiokv_shared_tables, tables);
  if (engine.queue->window <= XIOKV_SHARED_WINDOW) {
    const xiokv_slots stored = engine.slots;
    engine.slots = xiokv_slots_in_shared(tables, stored);
    xiokv_copy_ring(engine.slots, stored);
    xiokv_run_with<Command>(engine);
    xiokv_barrier();
    xiokv_copy_ring(stored, engine.slots);
    return;
  }
#endif
  xiokv_run_with<Command>(engine);
}
