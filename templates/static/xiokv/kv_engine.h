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

#include "xiokv/kv_completion.h"
#include "xiokv/kv_engine_state.h"
#include "xiokv/kv_submission.h"

/// @brief Take what has arrived by now; bounded by the size of the ring.
template <class Command>
XIOKV_DEVICE void xiokv_take_last(xiokv_engine &engine) {
  uint32_t taken = 0;
  while (engine.in_flight != 0 && taken < engine.queue.cq_depth) {
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
    engine.stored->state = XIOKV_QUEUE_DEAD;
    engine.stored->report.timeouts += engine.in_flight;
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

/// @brief Begin where the queue stands; nothing is in flight.
///
/// The last lane looks at the stop flag meanwhile: a batch that was stopped
/// before it began submits nothing.
XIOKV_DEVICE void xiokv_begin(xiokv_engine &engine) {
  const xiokv_queue &queue = engine.queue;
  engine.tail = queue.sq_tail;
  engine.head = queue.cq_head;
  engine.phase = queue.cq_phase;
  engine.take = engine.give = queue.free_position;
  engine.in_flight = 0;
  engine.limit =
      xiokv_min(xiokv_min(queue.sq_depth, queue.cq_depth), queue.window + 1u) -
      1u;
  engine.next = engine.end = engine.round = 0;
  engine.exhausted = false;
  engine.started = engine.progress = engine.warned = xiokv_clock();
  engine.submitted = engine.completed = engine.doorbells = 0;
  for (uint32_t i = xiokv_lane(); i < queue.window; i += XIOKV_LANES)
    engine.slots.live[i] = XIOKV_SLOT_FREE;
  if (xiokv_lane() == XIOKV_LANES - 1u)
    engine.shared->stop[engine.round] = xiokv_stop_flag(*engine.batch);
  xiokv_barrier();
  engine.stopping = engine.shared->stop[engine.round] != 0;
}

/// @brief Write the state back for the next launch; lane 0.
XIOKV_DEVICE void xiokv_save(const xiokv_engine &engine) {
  xiokv_queue &queue = *engine.stored;
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
    engine.stored->report.timeouts += end - first;
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
  if (engine.queue.state == XIOKV_QUEUE_READY)
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
  engine.stored = reinterpret_cast<xiokv_queue *>(batch.queues) + number;
  engine.queue = *engine.stored;
  engine.batch = &batch;
  engine.shared = &shared;
  engine.slots = xiokv_slots_in_queue(engine.queue);
#if XIOKV_SHARED_WINDOW != 0
  XIOKV_SHARED_VARIABLE(xiokv_shared_tables, tables);
  if (engine.queue.window <= XIOKV_SHARED_WINDOW) {
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
