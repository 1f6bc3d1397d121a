// SPDX-License-Identifier: MIT
/// @file
/// @brief The engine's way out: claim keys, encode their commands, ring the SQ
/// doorbell.
#pragma once

#include "xiokv/kv_batch_request.h"
#include "xiokv/kv_engine_state.h"
#include "xiokv/kv_types.h"

/// @brief Whether another chunk may be claimed now.
///
/// While each queue can still have one, whenever there is room. Of less than
/// that, only when half of a chunk is done: a queue that is a little ahead does
/// not take what the others have not come to yet. What they all have claimed is
/// known as of the last round.
XIOKV_DEVICE bool xiokv_may_claim(const xiokv_engine &engine) {
  const xiokv_batch &batch = *engine.batch;
  const uint64_t fair = static_cast<uint64_t>(batch.chunk) * batch.queue_count;
  const uint32_t most = batch.count - engine.claimed >= fair
                            ? engine.limit
                            : xiokv_min(engine.limit, batch.chunk / 2u + 1u);
  return engine.in_flight < most;
}

/// @brief Claim the next chunk of keys, or find that none is left.
XIOKV_DEVICE void xiokv_claim(xiokv_engine &engine) {
  engine.batch = xiokv_anew(engine.arguments);
  const xiokv_batch &batch = *engine.batch;
  if (xiokv_lane() == 0) {
    xiokv_batch_state *state =
        reinterpret_cast<xiokv_batch_state *>(batch.state);
    const uint64_t first = xiokv_device_add64(&state->claimed, batch.chunk);
    engine.shared->claim =
        first < batch.count ? static_cast<uint32_t>(first) : batch.count;
  }
  xiokv_barrier();
  engine.next = xiokv_uniform(engine.shared->claim);
  engine.end = engine.next + xiokv_min(batch.chunk, batch.count - engine.next);
  engine.claimed = engine.end;
  engine.exhausted = engine.end == batch.count ? 1u : 0u;
  xiokv_read_ahead(engine, engine.next, engine.end);
}

/// @brief Four dwords of an entry, from `first` on.
XIOKV_DEVICE xiokv_words xiokv_quarter(const xiokv_sqe &sqe, uint32_t first) {
  return xiokv_words{
      {sqe.dw[first], sqe.dw[first + 1], sqe.dw[first + 2], sqe.dw[first + 3]}};
}

/// @brief Encode this lane's command, key `next` + `step`, under a free CID.
template <class Command>
XIOKV_DEVICE xiokv_sqe xiokv_encode(const xiokv_engine &engine, uint32_t step) {
  const uint32_t cid = xiokv_slot_take(
      engine.slots, xiokv_wrap(engine.take, step, engine.queue.window),
      engine.next + step);
  xiokv_sqe sqe;
  Command::encode(sqe,
                  xiokv_make_request(engine.queue, *engine.batch, engine.ahead,
                                     cid, xiokv_slot_of(engine.slots, cid)));
  return sqe;
}

/// @brief Store a lane's own entry, `step` places after the tail. Written out:
/// a loop that stays a loop would make the entry pass through memory.
XIOKV_DEVICE void xiokv_store_entry(const xiokv_engine &engine,
                                    const xiokv_sqe &sqe, uint32_t step) {
  xiokv_sqe &entry = reinterpret_cast<xiokv_sqe *>(
      engine.queue.sq)[xiokv_wrap(engine.tail, step, engine.queue.sq_depth)];
  xiokv_store16(&entry.dw[0], xiokv_quarter(sqe, 0));
  xiokv_store16(&entry.dw[4], xiokv_quarter(sqe, 4));
  xiokv_store16(&entry.dw[8], xiokv_quarter(sqe, 8));
  xiokv_store16(&entry.dw[12], xiokv_quarter(sqe, 12));
}

/// @brief Store the entries of this wave's lanes, of which the first is
/// `first` + wave lane 0 and `room` the number of all; the lanes of a wave
/// store neighbouring quarters, so that whole lines leave it.
XIOKV_DEVICE void xiokv_store_entries(const xiokv_engine &engine,
                                      const xiokv_sqe &sqe, uint32_t first,
                                      uint32_t room) {
  const uint32_t width = xiokv_wave_width();
  xiokv_words *entries =
      engine.shared->entries + (xiokv_lane() - xiokv_wave_lane()) * 4u;
  xiokv_words *mine = entries + xiokv_wave_lane() * 4u;
  if (first + xiokv_wave_lane() < room) {
    mine[0] = xiokv_quarter(sqe, 0);
    mine[1] = xiokv_quarter(sqe, 4);
    mine[2] = xiokv_quarter(sqe, 8);
    mine[3] = xiokv_quarter(sqe, 12);
  }
  xiokv_wave_barrier();
  xiokv_sqe *ring = reinterpret_cast<xiokv_sqe *>(engine.queue.sq);
  XIOKV_NO_UNROLL
  for (uint32_t at = xiokv_wave_lane(); at < 4u * width; at += width) {
    const uint32_t step = first + at / 4u;
    if (step < room)
      xiokv_store16(&ring[xiokv_wrap(engine.tail, step, engine.queue.sq_depth)]
                         .dw[at % 4u * 4u],
                    entries[at]);
  }
  xiokv_wave_barrier();
}

/// @brief Store the commands of the next `room` keys, and read ahead.
///
/// Every wave releases its own stores before the barrier that comes before the
/// doorbell: on gfx90a and gfx942 a barrier does not wait for another wave's.
template <class Command>
XIOKV_DEVICE void xiokv_submit(xiokv_engine &engine, uint32_t room) {
  const uint32_t first = xiokv_first_lane(xiokv_lane());
  if (first >= room) {
    xiokv_read_ahead(engine, engine.next + room, engine.end);
    if (XIOKV_EARLY_ACQUIRE && first < xiokv_watched(engine))
      xiokv_acquire_system();
    return;
  }
  XIOKV_NO_UNROLL
  for (uint32_t base = 0; base + first < room; base += XIOKV_LANES) {
    const uint32_t step = base + xiokv_lane();
    const uint32_t after = base + XIOKV_LANES;
    engine.batch = xiokv_anew(engine.arguments);
    xiokv_sqe sqe;
    if (step < room)
      sqe = xiokv_encode<Command>(engine, step);
    if (XIOKV_LANES == 1)
      xiokv_store_entry(engine, sqe, step);
    else
      xiokv_store_entries(engine, sqe, base + first, room);
    xiokv_read_ahead(engine,
                     engine.next + (after + first < room ? after : room),
                     engine.end);
  }
  engine.batch = xiokv_anew(engine.arguments);
  xiokv_release_system();
}

/// @brief Forget what was stored under no doorbell; all lanes.
XIOKV_DEVICE void xiokv_take_back(const xiokv_engine &engine, uint32_t room) {
  const xiokv_slots &slots = engine.slots;
  XIOKV_NO_UNROLL
  for (uint32_t step = xiokv_lane(); step < room; step += XIOKV_LANES) {
    const uint32_t at = xiokv_wrap(engine.take, step, slots.window);
    slots.live[xiokv_slot_of(slots, slots.free_ring[at])] = XIOKV_SLOT_FREE;
  }
  xiokv_barrier();
}

/// @brief Ring the SQ doorbell for what was stored; after a barrier.
XIOKV_DEVICE void xiokv_ring_doorbell(xiokv_engine &engine, uint32_t room) {
  const xiokv_queue &queue = engine.queue;
  engine.tail = xiokv_wrap(engine.tail, room, queue.sq_depth);
  engine.take = xiokv_wrap(engine.take, room, queue.window);
  engine.next += room;
  engine.in_flight += room;
  if (xiokv_lane() != 0)
    return;
  xiokv_store32(reinterpret_cast<void *>(queue.sq_doorbell), engine.tail);
  xiokv_times &times = engine.shared->times;
  if (!times.began)
    times.progress = xiokv_clock();
  times.began = true;
  xiokv_count(engine, XIOKV_TALLY_SUBMITTED, room);
  xiokv_count(engine, XIOKV_TALLY_DOORBELLS, 1);
}
