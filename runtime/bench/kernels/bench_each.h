// SPDX-License-Identifier: MIT
/// @file
/// @brief A command a thread: every lane submits its own commands, one after
/// the other, and polls for its own completions.
///
/// Lanes of a wave may run in lockstep, so no lane ever waits for another in a
/// loop of its own: each goes round one loop and does what its state allows. A
/// doorbell has to cover entries in order. The lane whose entry is the first
/// that is not covered rings it, for its own and for all that are ready behind
/// it; no other may.
#pragma once

#include "bench_ring.h"

/// @brief Places of a ring that are passed in order, although lanes get ready
/// in any. A lane has one place at a time, so that marks can be used in turn.
struct bench_order {
  uint32_t passed;            ///< Places that a doorbell covers.
  uint32_t mark[XIOKV_LANES]; ///< Place + 1, once it is ready.
};

/// @brief Make what a lane wrote before be seen before what it writes next.
XIOKV_DEVICE void bench_fence() {
#if defined(__CUDA_ARCH__)
  __threadfence_block();
#elif defined(__AMDGCN__)
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
#else
  xiokv_release_system();
#endif
}

/// @brief Read a word that other lanes write.
XIOKV_DEVICE uint32_t bench_peek(const uint32_t &word) {
  return *static_cast<const volatile uint32_t *>(&word);
}

XIOKV_DEVICE void bench_poke(uint32_t &word, uint32_t value) {
  *static_cast<volatile uint32_t *>(&word) = value;
}

XIOKV_DEVICE void bench_clear(bench_order &order) {
  if (xiokv_lane() == 0)
    order.passed = 0;
  order.mark[xiokv_lane()] = 0;
}

XIOKV_DEVICE bool bench_is_ready(const bench_order &order, uint32_t place) {
  return bench_peek(order.mark[place % XIOKV_LANES]) == place + 1u;
}

/// @brief Say that a place is ready; what came of it before was released.
XIOKV_DEVICE void bench_mark(bench_order &order, uint32_t place) {
  bench_poke(order.mark[place % XIOKV_LANES], place + 1u);
}

/// @brief Whether a doorbell covers a place; ring it where it is its lane's
/// turn.
/// @param slot_of Returns what the doorbell says for a number of places.
template <class Slot>
XIOKV_DEVICE bool bench_pass(bench_order &order, uint32_t place,
                             uint64_t doorbell, Slot slot_of) {
  const uint32_t passed = bench_peek(order.passed);
  if (passed != place)
    return static_cast<int32_t>(passed - place) > 0;
  uint32_t end = place + 1u;
  while (bench_is_ready(order, end))
    ++end;
  bench_fence();
  bench_doorbell(doorbell, slot_of(end));
  bench_fence();
  bench_poke(order.passed, end);
  return true;
}

/// @brief What the lanes of a workgroup share.
struct bench_lanes {
  uint32_t next;    ///< Command numbers handed out.
  uint32_t overdue; ///< 1: a lane has given up.
  bench_order out;  ///< Entries of the submission ring.
  bench_order in;   ///< Entries of the completion ring.
};

enum bench_state {
  BENCH_FREE,     ///< No command.
  BENCH_WRITTEN,  ///< Its entry is written.
  BENCH_WATCHING, ///< A doorbell covers it.
  BENCH_TAKEN,    ///< Its completion is taken.
};

/// @brief One lane and its command.
struct bench_lane {
  bench_state state;
  uint32_t index;  ///< Key.
  uint32_t number; ///< Number of the command.
  uint32_t at;     ///< Completion that it looks at.
  bool searching;  ///< It was not where it was expected.
  bench_patience patience;
};

XIOKV_DEVICE void bench_lane_submit(const bench_ring &ring, bench_lanes &lanes,
                                    bench_lane &mine) {
  mine.number = xiokv_shared_add(&lanes.next, 1);
  bench_submit(ring, mine.number, xiokv_lane(), mine.index);
  xiokv_release_system();
  bench_mark(lanes.out, mine.number);
  mine.patience = {0, 0};
  mine.state = BENCH_WRITTEN;
}

/// @brief A controller that keeps the order completes command n as the nth: a
/// lane looks there first. Where that entry is another's, it looks at all that
/// no doorbell has passed, oldest first.
XIOKV_DEVICE void bench_lane_look(const bench_ring &ring, bench_lanes &lanes,
                                  bench_lane &mine) {
  const xiokv_words *at = bench_entry_at(ring, mine.at);
  const xiokv_words seen = xiokv_load16(at);
  if (!bench_is_new(ring, mine.at, seen))
    return;
  if (bench_cid(seen) != xiokv_lane()) {
    mine.at = mine.searching ? mine.at + 1u : bench_peek(lanes.in.passed);
    mine.searching = true;
    return;
  }
  xiokv_acquire_system();
  bench_settle(ring, xiokv_load16(at), mine.index);
  bench_mark(lanes.in, mine.at);
  mine.state = BENCH_TAKEN;
}

/// @brief Go round once; each state may lead to the next at once.
XIOKV_DEVICE void bench_lane_step(const bench_ring &ring, bench_lanes &lanes,
                                  bench_lane &mine, uint32_t stride) {
  const xiokv_queue &queue = ring.queue;
  if (mine.state == BENCH_FREE)
    bench_lane_submit(ring, lanes, mine);
  if (mine.state == BENCH_WRITTEN &&
      bench_pass(lanes.out, mine.number, queue.sq_doorbell,
                 [&](uint32_t count) { return bench_sq_slot(ring, count); })) {
    mine.at = mine.number;
    mine.searching = false;
    mine.state = BENCH_WATCHING;
  }
  if (mine.state == BENCH_WATCHING)
    bench_lane_look(ring, lanes, mine);
  if (mine.state == BENCH_TAKEN &&
      bench_pass(lanes.in, mine.at, queue.cq_doorbell,
                 [&](uint32_t count) { return bench_cq_slot(ring, count); })) {
    mine.index += stride;
    mine.state = BENCH_FREE;
  }
}

struct bench_each {
  XIOKV_DEVICE void run(const xiokv_batch &batch, uint32_t number) {
    XIOKV_SHARED_VARIABLE(bench_lanes, lanes);
    const bench_ring ring = bench_open(batch, number);
    const bench_share share = bench_share_of(batch, number);
    const uint32_t most = bench_limit(ring.queue);
    const uint32_t active = most < XIOKV_LANES ? most : XIOKV_LANES;
    if (xiokv_lane() == 0)
      lanes.next = lanes.overdue = 0;
    bench_clear(lanes.out);
    bench_clear(lanes.in);
    xiokv_barrier();
    bench_lane mine = {BENCH_FREE, share.first + xiokv_lane(), 0, 0, false,
                       {0, 0}};
    if (xiokv_lane() < active)
      while (mine.index < share.end && bench_peek(lanes.overdue) == 0) {
        bench_lane_step(ring, lanes, mine, active);
        if (mine.state != BENCH_FREE && bench_is_overdue(mine.patience, batch))
          bench_poke(lanes.overdue, 1);
      }
    xiokv_barrier();
    if (xiokv_lane() != 0)
      return;
    if (lanes.overdue != 0)
      bench_abandon(ring);
    else
      bench_save(ring, share.end - share.first);
  }
};
