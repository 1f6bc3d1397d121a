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
  XIOKV_NO_UNROLL
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
  engine.round = xiokv_next_round(engine);
  engine.batch = xiokv_anew(engine.arguments);
  const xiokv_look look = xiokv_look_at_ring(engine, room == 0);
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
  uint32_t idle = 0;
  for (;;) {
    if (engine.next == engine.end &&
        (engine.exhausted | engine.stopping | engine.closing) == 0 &&
        xiokv_may_claim(engine))
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
    const bool idles = room == 0 && engine.run == 0;
    idle = idles ? idle + 1 : 0;
    if (idles)
      xiokv_pause(idle, engine.shared->tally[XIOKV_TALLY_COMPLETED],
                  engine.in_flight);
  }
}

XIOKV_DEVICE xiokv_queue &xiokv_queue_at(const xiokv_batch &batch,
                                         uint32_t number) {
  return reinterpret_cast<xiokv_queue *>(batch.queues)[number];
}

/// @brief Whether the batch tells where the free ring of a queue is.
XIOKV_DEVICE bool xiokv_knows_ring(const xiokv_batch &batch, uint32_t number) {
  return number == 0 && batch.first_ring != 0;
}

/// @brief Copy `count` words of memory to shared memory, by `lanes` lanes from
/// `first` on.
template <class Word>
XIOKV_DEVICE void xiokv_fetch(Word *to, uint64_t from, uint32_t count,
                              uint32_t first, uint32_t lanes) {
  const uint32_t lane = xiokv_lane();
  if (lane < first || lane >= first + lanes)
    return;
  XIOKV_NO_UNROLL
  for (uint32_t i = lane - first; i < count; i += lanes)
    to[i] = reinterpret_cast<const Word *>(from)[i];
}

/// @brief Read the queue and its free ring into shared memory.
///
/// The lanes of the first keys do nothing of it and read those at once: keys
/// may lie on the host.
XIOKV_DEVICE void xiokv_read_queue(const xiokv_batch &batch, uint32_t number,
                                   xiokv_shared &shared,
                                   xiokv_shared_tables &tables) {
  constexpr uint32_t half = XIOKV_LANES / 2u, quarter = XIOKV_LANES / 4u;
  constexpr uint32_t words = sizeof shared.queue / sizeof(uint64_t);
  xiokv_fetch(reinterpret_cast<uint64_t *>(&shared.queue),
              batch.queues + number * sizeof shared.queue, words, quarter,
              half > quarter ? half - quarter : 1u);
  if (XIOKV_SHARED_WINDOW != 0 && xiokv_knows_ring(batch, number))
    xiokv_fetch(reinterpret_cast<xiokv_words *>(tables.free_ring),
                batch.first_ring, XIOKV_RING_WORDS, half, XIOKV_LANES - half);
}

/// @brief Set up what the lanes tell each other.
XIOKV_DEVICE void xiokv_clear_shared(xiokv_shared &shared,
                                     xiokv_shared_tables &tables) {
  const uint32_t lane = xiokv_lane();
  if (lane == 0) {
    const uint64_t now = xiokv_clock();
    shared.times = {now, now, now, false};
  }
  XIOKV_NO_UNROLL
  for (uint32_t i = lane; i < XIOKV_TALLIES; i += XIOKV_LANES)
    shared.tally[i] = 0;
  XIOKV_NO_UNROLL
  for (uint32_t i = lane; i < XIOKV_ROUNDS; i += XIOKV_LANES)
    shared.freed[i] = 0;
  XIOKV_NO_UNROLL
  for (uint32_t i = lane; i < XIOKV_SHARED_ENTRIES; i += XIOKV_LANES) {
    tables.live[i] = XIOKV_SLOT_FREE;
    tables.key[i] = 0;
  }
}

/// @brief Take over what was read of the queue; what decides where the lanes go
/// is told to be the same for all.
XIOKV_DEVICE void xiokv_take_queue(xiokv_engine &engine, uint32_t number) {
  xiokv_queue &queue = engine.queue;
  queue = XIOKV_SERIAL_LOADS ? engine.shared->queue
                             : xiokv_queue_at(*engine.batch, number);
  queue.sq_depth = xiokv_uniform(queue.sq_depth);
  queue.cq_depth = xiokv_uniform(queue.cq_depth);
  queue.window = xiokv_uniform(queue.window);
  queue.state = xiokv_uniform(queue.state);
  engine.tail = xiokv_uniform(queue.sq_tail);
  engine.head = xiokv_uniform(queue.cq_head);
  engine.phase = xiokv_uniform(queue.cq_phase);
  engine.take = engine.give = xiokv_uniform(queue.free_position);
  engine.limit =
      xiokv_min(xiokv_min(queue.sq_depth, queue.cq_depth), queue.window + 1u) -
      1u;
}

/// @brief Whether the tables of the queue are kept in shared memory.
XIOKV_DEVICE bool xiokv_is_shared(const xiokv_engine &engine) {
  return XIOKV_SHARED_WINDOW != 0 && engine.queue.window <= XIOKV_SHARED_WINDOW;
}

/// @brief Say where the tables are.
XIOKV_DEVICE void xiokv_find_tables(xiokv_engine &engine,
                                    xiokv_shared_tables &tables) {
  engine.slots = xiokv_slots_in_queue(engine.queue);
  if (xiokv_is_shared(engine))
    engine.slots = xiokv_slots_in_shared(tables, engine.slots);
}

/// @brief Open the tables of the queue; all lanes.
///
/// Only the free ring outlives the launch: nothing is in flight between
/// launches. A key is one of the batch from the start: a controller may
/// complete a command while its lane has yet to write which key it is for.
XIOKV_DEVICE void xiokv_open_tables(xiokv_engine &engine,
                                    xiokv_shared_tables &tables,
                                    uint32_t number) {
  xiokv_find_tables(engine, tables);
  if (xiokv_is_shared(engine)) {
    if (xiokv_knows_ring(*engine.batch, number))
      return;
    xiokv_copy_ring(engine.slots, xiokv_slots_in_queue(engine.queue));
  } else {
    XIOKV_NO_UNROLL
    for (uint32_t i = xiokv_lane(); i < engine.slots.window; i += XIOKV_LANES) {
      engine.slots.live[i] = XIOKV_SLOT_FREE;
      engine.slots.key[i] = 0;
    }
  }
  xiokv_barrier();
}

/// @brief Begin where the queue stands; nothing is in flight.
///
/// The keys of a batch on one queue are read before the queue is known, and
/// first of all but where what is near would wait for them.
XIOKV_DEVICE void xiokv_begin(xiokv_engine &engine, xiokv_shared_tables &tables,
                              uint32_t number) {
  const xiokv_batch &batch = *engine.batch;
  engine.exhausted = batch.queue_count == 1 ? 1u : 0u;
  engine.next = 0;
  engine.end = batch.queue_count == 1 ? batch.count : 0;
  if (!XIOKV_SERIAL_LOADS)
    xiokv_read_ahead(engine, 0, engine.end);
  xiokv_read_queue(batch, number, *engine.shared, tables);
  if (XIOKV_SERIAL_LOADS)
    xiokv_read_ahead(engine, 0, engine.end);
  xiokv_clear_shared(*engine.shared, tables);
  engine.run = engine.seen = engine.in_flight = engine.round = 0;
  engine.claimed = 0;
  engine.closing = engine.stopping = 0;
  engine.expired = XIOKV_IN_TIME;
  if (!XIOKV_SERIAL_LOADS)
    xiokv_take_queue(engine, number);
  xiokv_barrier();
  if (XIOKV_SERIAL_LOADS)
    xiokv_take_queue(engine, number);
  xiokv_open_tables(engine, tables, number);
}

/// @brief Give keys [first, end) the outcome of never having been submitted.
XIOKV_DEVICE void xiokv_leave_keys(const xiokv_engine &engine, uint32_t first,
                                   uint32_t end) {
  const xiokv_outcome outcome =
      engine.stopping != 0 ? XIOKV_OUTCOME_CANCELLED : XIOKV_OUTCOME_TIMEOUT;
  XIOKV_NO_UNROLL
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
  const uint64_t *before =
      reinterpret_cast<const uint64_t *>(&engine.shared->queue.report);
  XIOKV_NO_UNROLL
  for (uint32_t i = xiokv_lane(); i < XIOKV_TALLIES; i += XIOKV_LANES)
    report[i] = before[i] + engine.shared->tally[i];
}

/// @brief Write the outcome to the queue and to its mirror; all lanes.
XIOKV_DEVICE void xiokv_save(const xiokv_engine &engine, uint32_t number) {
  xiokv_save_to(engine, xiokv_queue_at(*engine.batch, number));
  if (engine.queue.mirror != 0)
    xiokv_save_to(engine,
                  *reinterpret_cast<xiokv_queue *>(engine.queue.mirror));
}

/// @brief Write the free ring back; all lanes.
XIOKV_DEVICE void xiokv_close_tables(const xiokv_engine &engine) {
  if (xiokv_is_shared(engine))
    xiokv_copy_ring(xiokv_slots_in_queue(engine.queue), engine.slots);
}

/// @brief Do the work, with the tables where they are.
///
/// It is compiled for shared memory alone where accesses to memory of an
/// unknown kind wait for loads from the host.
template <class Command>
XIOKV_DEVICE void xiokv_work(xiokv_engine &engine,
                             xiokv_shared_tables &tables) {
  if (XIOKV_SERIAL_LOADS && xiokv_is_shared(engine)) {
    xiokv_find_tables(engine, tables);
    xiokv_drive<Command>(engine);
  } else {
    xiokv_drive<Command>(engine);
  }
}

/// @brief Run a batch on its queue `number`; all lanes of one workgroup.
template <class Command>
XIOKV_DEVICE void xiokv_run_batch(const xiokv_batch &batch, uint32_t number) {
  XIOKV_SHARED_VARIABLE(xiokv_shared, shared);
  XIOKV_SHARED_VARIABLE(xiokv_shared_tables, tables);
  xiokv_engine engine;
  engine.arguments = engine.batch = &batch;
  engine.shared = &shared;
  xiokv_begin(engine, tables, number);
  if (engine.queue.state == XIOKV_QUEUE_READY)
    xiokv_work<Command>(engine, tables);
  engine.batch = xiokv_anew(engine.arguments);
  if (engine.in_flight != 0)
    xiokv_abandon(engine);
  xiokv_leave(engine);
  xiokv_barrier();
  xiokv_close_tables(engine);
  xiokv_save(engine, number);
}
