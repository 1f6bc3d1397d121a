// Copied by `xiokv-gen build` from the static templates of xiokv; do not edit.
// clang-format off
// SPDX-License-Identifier: MIT
/// @file
/// @brief The batch engine: one workgroup drives one queue pair.
///
/// It goes in rounds of one barrier and one round trip to the rings: loads of
/// the entries that were seen new in the round before and of those after them
/// are under way while the lanes encode commands for the slots that are free.
/// One doorbell covers what they stored. The contiguous run of new entries is
/// taken at once; a CID, never a position, says which key completed. Freed
/// slots are refilled without waiting for the rest of the batch.
///
/// Every variable of xiokv_engine has the same value in all lanes, except where
/// its comment says otherwise; every branch around a barrier depends on such
/// values alone.
///
/// `Command` supplies two static functions:
///   void encode(xiokv_sqe &sqe, const xiokv_request &request);
///   xiokv_completed classify(uint32_t status, uint32_t dw0, uint32_t size);
#pragma once

#include "xiokv/kv_completion.h"
#include "xiokv/kv_engine_state.h"
#include "xiokv/kv_submission.h"

/// @brief Give every command in flight TIMEOUT and mark the queue dead.
XIOKV_DEVICE void xiokv_abandon(xiokv_engine &engine) {
  const xiokv_slots &slots = engine.slots;
  for (uint32_t slot = xiokv_lane(); slot < slots.window; slot += XIOKV_LANES)
    if (slots.live[slot] != XIOKV_SLOT_FREE)
      xiokv_give_up(*engine.batch, slots.key[slot], XIOKV_OUTCOME_TIMEOUT);
  engine.queue.state = XIOKV_QUEUE_DEAD;
  if (xiokv_lane() == 0)
    xiokv_count(engine, XIOKV_TALLY_TIMEOUTS, engine.in_flight);
}

/// @brief Submit `room` keys, settle what was seen new, and look again.
///
/// The stop flag is looked at before the doorbell rings: a batch that was
/// stopped before it began submits nothing.
/// @return Commands that left flight.
template <class Command>
XIOKV_DEVICE uint32_t xiokv_round(xiokv_engine &engine, uint32_t room) {
  engine.round = engine.round + 1u == XIOKV_ROUNDS ? 0 : engine.round + 1u;
  engine.batch = xiokv_anew(engine.arguments);
  const xiokv_look look = xiokv_look_at_ring(engine);
  xiokv_tell_time(engine);
  if (room != 0)
    xiokv_submit<Command>(engine, room);
  xiokv_settle_run<Command>(engine, look);
  xiokv_tell(engine, look);
  xiokv_barrier();
  const uint32_t seen = xiokv_learn(engine);
  const uint32_t freed = engine.run != 0 ? xiokv_leave_run(engine) : 0;
  if (room != 0 && engine.stopping == 0)
    xiokv_ring_doorbell(engine, room);
  else if (room != 0)
    xiokv_take_back(engine, room);
  engine.run = xiokv_next_run(engine, seen);
  engine.batch = engine.arguments;
  return freed;
}

/// @brief Keys that may be submitted now.
XIOKV_DEVICE uint32_t xiokv_room(const xiokv_engine &engine) {
  if ((engine.stopping | engine.closing) != 0)
    return 0;
  return xiokv_min(engine.limit - engine.in_flight, engine.end - engine.next);
}

/// @brief Submit and take completions until nothing is left to do.
///
/// Once a limit of time has passed, what has arrived by then is still taken, as
/// much as the ring holds.
template <class Command> XIOKV_DEVICE void xiokv_drive(xiokv_engine &engine) {
  uint32_t last = engine.queue.cq_depth;
  for (;;) {
    if (engine.next == engine.end &&
        (engine.exhausted | engine.stopping | engine.closing) == 0 &&
        engine.in_flight < engine.limit)
      xiokv_claim(engine);
    const uint32_t room = xiokv_room(engine);
    if (engine.in_flight == 0 && room == 0)
      return;
    const uint32_t run = engine.run;
    const uint32_t freed = xiokv_round<Command>(engine, room);
    if (engine.closing != 0)
      last -= xiokv_min(last, run);
    if (engine.closing != 0 && (engine.run == 0 || last == 0))
      return;
    if (engine.expired == XIOKV_OVERDUE ||
        (engine.expired == XIOKV_STALLED && freed == 0))
      engine.closing = 1;
    if (room == 0 && engine.run == 0)
      xiokv_pause();
  }
}

XIOKV_DEVICE xiokv_queue &xiokv_queue_at(const xiokv_batch &batch,
                                         uint32_t number) {
  return reinterpret_cast<xiokv_queue *>(batch.queues)[number];
}

/// @brief Read the queue; what decides where the lanes go is told to be the
/// same for all.
XIOKV_DEVICE xiokv_queue xiokv_read_queue(const xiokv_queue &stored) {
  xiokv_queue queue = stored;
  queue.sq_depth = xiokv_uniform(queue.sq_depth);
  queue.cq_depth = xiokv_uniform(queue.cq_depth);
  queue.window = xiokv_uniform(queue.window);
  queue.sq_tail = xiokv_uniform(queue.sq_tail);
  queue.cq_head = xiokv_uniform(queue.cq_head);
  queue.cq_phase = xiokv_uniform(queue.cq_phase);
  queue.free_position = xiokv_uniform(queue.free_position);
  queue.state = xiokv_uniform(queue.state);
  return queue;
}

/// @brief Begin where the queue stands; nothing is in flight.
///
/// The keys of a batch on one queue are read before the queue is known.
XIOKV_DEVICE void xiokv_begin(xiokv_engine &engine, uint32_t number) {
  const xiokv_batch &batch = *engine.batch;
  xiokv_shared &shared = *engine.shared;
  const uint32_t lane = xiokv_lane();
  engine.exhausted = batch.queue_count == 1 ? 1u : 0u;
  engine.next = 0;
  engine.end = batch.queue_count == 1 ? batch.count : 0;
  xiokv_read_ahead(engine, 0, engine.end);
  const xiokv_queue &queue = engine.queue =
      xiokv_read_queue(xiokv_queue_at(batch, number));
  engine.tail = queue.sq_tail;
  engine.head = queue.cq_head;
  engine.phase = queue.cq_phase;
  engine.take = engine.give = queue.free_position;
  engine.run = engine.seen = engine.in_flight = engine.round = 0;
  engine.limit =
      xiokv_min(xiokv_min(queue.sq_depth, queue.cq_depth), queue.window + 1u) -
      1u;
  engine.expired = XIOKV_IN_TIME;
  engine.closing = engine.stopping = 0;
  if (lane == 0) {
    const uint64_t now = xiokv_clock();
    shared.times = {now, now, now, false};
  }
  const uint64_t *report =
      reinterpret_cast<const uint64_t *>(&xiokv_queue_at(batch, number).report);
  for (uint32_t i = lane; i < XIOKV_TALLIES; i += XIOKV_LANES) {
    shared.before[i] = report[i];
    shared.tally[i] = 0;
  }
  for (uint32_t i = lane; i < XIOKV_ROUNDS; i += XIOKV_LANES)
    shared.freed[i] = 0;
}

/// @brief Give keys [first, end) the outcome of never having been submitted.
XIOKV_DEVICE void xiokv_leave_keys(const xiokv_engine &engine, uint32_t first,
                                   uint32_t end) {
  const xiokv_outcome outcome =
      engine.stopping != 0 ? XIOKV_OUTCOME_CANCELLED : XIOKV_OUTCOME_TIMEOUT;
  for (uint64_t i = static_cast<uint64_t>(first) + xiokv_lane(); i < end;
       i += XIOKV_LANES)
    xiokv_give_up(*engine.batch, static_cast<uint32_t>(i), outcome);
  if (xiokv_lane() == 0 && engine.stopping == 0)
    xiokv_count(engine, XIOKV_TALLY_TIMEOUTS, end - first);
}

/// @brief Claim what no queue has claimed; all but the last queue out get
/// nothing. The last one leaves the shared state as it was before the batch.
/// @return First key of the rest; it ends with the batch.
XIOKV_DEVICE uint32_t xiokv_claim_rest(const xiokv_engine &engine) {
  const xiokv_batch &batch = *engine.batch;
  if (xiokv_lane() == 0) {
    xiokv_batch_state *state =
        reinterpret_cast<xiokv_batch_state *>(batch.state);
    uint64_t first = batch.count;
    if (xiokv_device_add32(&state->exited, 1) + 1u == batch.queue_count) {
      first = xiokv_device_add64(&state->claimed, 0);
      *state = {0, 0, 0};
    }
    engine.shared->rest =
        first < batch.count ? static_cast<uint32_t>(first) : batch.count;
  }
  xiokv_barrier();
  return xiokv_uniform(engine.shared->rest);
}

/// @brief Answer for the keys that were never submitted, so that no key is left
/// without an outcome. Whether the batch was stopped is asked once more: a
/// queue that is dead, or came too late to claim a key, never looked.
XIOKV_DEVICE void xiokv_leave(xiokv_engine &engine) {
  const xiokv_batch &batch = *engine.batch;
  const uint32_t rest =
      batch.queue_count != 1 ? xiokv_claim_rest(engine) : batch.count;
  if (engine.next == engine.end && rest == batch.count)
    return;
  if (xiokv_lane() == 0)
    engine.shared->stopped =
        xiokv_load16(reinterpret_cast<const void *>(batch.stop)).word[0];
  xiokv_barrier();
  engine.stopping |= xiokv_uniform(engine.shared->stopped) != 0 ? 1u : 0u;
  xiokv_leave_keys(engine, engine.next, engine.end);
  xiokv_leave_keys(engine, rest, batch.count);
}

/// @brief Write ring state, state and report to one of the queue's records.
XIOKV_DEVICE void xiokv_save_to(const xiokv_engine &engine,
                                xiokv_queue &record) {
  if (xiokv_lane() == 0) {
    record.sq_tail = engine.tail;
    record.cq_head = engine.head;
    record.cq_phase = engine.phase;
    record.free_position = engine.take;
    record.state = engine.queue.state;
  }
  uint64_t *report = reinterpret_cast<uint64_t *>(&record.report);
  for (uint32_t i = xiokv_lane(); i < XIOKV_TALLIES; i += XIOKV_LANES)
    report[i] = engine.shared->before[i] + engine.shared->tally[i];
}

/// @brief Write the outcome to the queue and to its mirror; all lanes.
XIOKV_DEVICE void xiokv_save(const xiokv_engine &engine, uint32_t number) {
  xiokv_save_to(engine, xiokv_queue_at(*engine.batch, number));
  if (engine.queue.mirror != 0)
    xiokv_save_to(engine,
                  *reinterpret_cast<xiokv_queue *>(engine.queue.mirror));
}

/// @brief Open the tables of the queue; all lanes.
///
/// They are kept in shared memory where the window fits. Only the free ring
/// outlives the launch: nothing is in flight between launches.
XIOKV_DEVICE void xiokv_open_tables(xiokv_engine &engine,
                                    xiokv_shared_tables &tables) {
  const xiokv_slots stored = xiokv_slots_in_queue(engine.queue);
  engine.slots = stored;
  if (stored.window <= XIOKV_SHARED_WINDOW) {
    engine.slots = xiokv_slots_in_shared(tables, stored);
    xiokv_copy_ring(engine.slots, stored);
  }
  for (uint32_t i = xiokv_lane(); i < stored.window; i += XIOKV_LANES)
    engine.slots.live[i] = XIOKV_SLOT_FREE;
}

/// @brief Write the free ring back; all lanes.
XIOKV_DEVICE void xiokv_close_tables(const xiokv_engine &engine) {
  if (engine.slots.window <= XIOKV_SHARED_WINDOW)
    xiokv_copy_ring(xiokv_slots_in_queue(engine.queue), engine.slots);
}

/// @brief Run a batch on its queue `number`; all lanes of one workgroup.
template <class Command>
XIOKV_DEVICE void xiokv_run_batch(const xiokv_batch &batch, uint32_t number) {
  XIOKV_SHARED_VARIABLE(xiokv_shared, shared);
  XIOKV_SHARED_VARIABLE(xiokv_shared_tables, tables);
  xiokv_engine engine;
  engine.arguments = engine.batch = &batch;
  engine.shared = &shared;
  xiokv_begin(engine, number);
  xiokv_open_tables(engine, tables);
  xiokv_barrier();
  if (engine.queue.state == XIOKV_QUEUE_READY)
    xiokv_drive<Command>(engine);
  engine.batch = xiokv_anew(engine.arguments);
  if (engine.in_flight != 0)
    xiokv_abandon(engine);
  xiokv_leave(engine);
  xiokv_barrier();
  xiokv_close_tables(engine);
  xiokv_save(engine, number);
}
