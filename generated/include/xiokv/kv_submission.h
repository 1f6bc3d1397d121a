// Copied by `xiokv-gen build` from the static templates of xiokv; do not edit.
// clang-format off
// SPDX-License-Identifier: MIT
/// @file
/// @brief The engine's way out: claim keys, encode their commands, ring the SQ
/// doorbell.
#pragma once

#include "xiokv/kv_batch_request.h"
#include "xiokv/kv_engine_state.h"
#include "xiokv/kv_types.h"

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
                  xiokv_make_request(engine.queue, *engine.batch, index, cid,
                                     xiokv_slot_of(engine.slots, cid)));
  xiokv_sqe *ring = reinterpret_cast<xiokv_sqe *>(engine.queue.sq);
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
  const xiokv_queue &queue = engine.queue;
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
