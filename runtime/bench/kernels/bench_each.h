// SPDX-License-Identifier: MIT
/// @file
/// @brief A command a thread: every lane submits its own commands, one after
/// the other, and polls for its own completions.
///
/// Lanes of a wave may run in lockstep, so no lane ever waits for another in a
/// loop of its own: each goes round one loop and does what its state allows. A
/// doorbell has to cover entries in order. Whoever gets the lock of one moves
/// it as far as lanes have said that they are ready; who does not tries again
/// the next time round.
#pragma once

#include "bench_ring.h"

/// @brief Places of a ring that are passed in order, although lanes get ready
/// in any. A lane has one place at a time, so that marks can be used in turn.
struct bench_order {
  uint32_t lock;
  uint32_t passed;            ///< Places that a doorbell covers.
  uint32_t mark[XIOKV_LANES]; ///< Place + 1, once it is ready.
};

/// @brief Make what was written before be seen before what comes next, by the
/// lanes of the workgroup.
XIOKV_DEVICE void bench_fence() {
#if defined(__CUDA_ARCH__)
  __threadfence_block();
#elif defined(__AMDGCN__)
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
#endif
}

XIOKV_DEVICE uint32_t bench_peek(uint32_t *word) {
  return xiokv_shared_add(word, 0);
}

XIOKV_DEVICE void bench_clear(bench_order &order) {
  if (xiokv_lane() == 0)
    order.lock = order.passed = 0;
  order.mark[xiokv_lane()] = xiokv_lane() + 1u - XIOKV_LANES;
}

/// @brief Say that a place is ready.
XIOKV_DEVICE void bench_mark(bench_order &order, uint32_t place) {
  xiokv_shared_swap_if(&order.mark[place % XIOKV_LANES],
                       place + 1u - XIOKV_LANES, place + 1u);
}

XIOKV_DEVICE bool bench_is_passed(bench_order &order, uint32_t place) {
  return static_cast<int32_t>(bench_peek(&order.passed) - place) > 0;
}

/// @brief The first place at or after `place` that is not ready.
XIOKV_DEVICE uint32_t bench_first_unready(bench_order &order, uint32_t place) {
  while (bench_peek(&order.mark[place % XIOKV_LANES]) == place + 1u)
    ++place;
  return place;
}

/// @brief Ring the SQ doorbell for what is ready, unless another lane is at it.
XIOKV_DEVICE void bench_ring_in_order(const bench_ring &ring,
                                      bench_order &order) {
  if (!xiokv_shared_swap_if(&order.lock, 0, 1))
    return;
  const uint32_t from = bench_peek(&order.passed);
  const uint32_t to = bench_first_unready(order, from);
  if (to != from) {
    xiokv_release_system();
    bench_doorbell(ring.queue.sq_doorbell, bench_sq_slot(ring, to));
    bench_fence();
    xiokv_shared_add(&order.passed, to - from);
  }
  xiokv_shared_swap_if(&order.lock, 1, 0);
}

/// @brief Ring the CQ doorbell likewise.
XIOKV_DEVICE void bench_pass_in_order(const bench_ring &ring,
                                      bench_order &order) {
  if (!xiokv_shared_swap_if(&order.lock, 0, 1))
    return;
  const uint32_t from = bench_peek(&order.passed);
  const uint32_t to = bench_first_unready(order, from);
  if (to != from) {
    bench_fence();
    bench_doorbell(ring.queue.cq_doorbell, bench_cq_slot(ring, to));
    bench_fence();
    xiokv_shared_add(&order.passed, to - from);
  }
  xiokv_shared_swap_if(&order.lock, 1, 0);
}

/// @brief What a lane shares with the others of its workgroup.
struct bench_lanes {
  uint32_t next;    ///< Command numbers handed out.
  bench_order out;  ///< Entries of the submission ring.
  bench_order in;   ///< Entries of the completion ring.
  uint32_t overdue; ///< 1: a lane has given up.
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
  uint64_t since;  ///< When it was submitted.
};

XIOKV_DEVICE void bench_lane_submit(const bench_ring &ring, bench_lanes &lanes,
                                    bench_lane &mine) {
  mine.number = xiokv_shared_add(&lanes.next, 1);
  bench_submit(ring, mine.number, xiokv_lane(), mine.index);
  xiokv_release_system();
  bench_mark(lanes.out, mine.number);
  mine.since = xiokv_clock();
  mine.state = BENCH_WRITTEN;
}

/// @brief A controller that keeps the order completes command n as the nth: a
/// lane looks there first. Where that entry is another's, it looks at all that
/// no doorbell has passed, oldest first.
XIOKV_DEVICE void bench_lane_look(const bench_ring &ring, bench_lanes &lanes,
                                  bench_lane &mine) {
  const xiokv_words entry = bench_entry(ring, mine.at);
  if (!bench_is_new(ring, mine.at, entry)) {
    xiokv_pause();
  } else if (bench_cid(entry) == xiokv_lane()) {
    bench_settle(ring, mine.at, mine.index);
    bench_mark(lanes.in, mine.at);
    mine.state = BENCH_TAKEN;
  } else {
    mine.at = mine.searching ? mine.at + 1u : bench_peek(&lanes.in.passed);
    mine.searching = true;
  }
}

/// @brief Go round once; each state may lead to the next at once.
XIOKV_DEVICE void bench_lane_step(const bench_ring &ring, bench_lanes &lanes,
                                  bench_lane &mine, uint32_t limit) {
  if (mine.state == BENCH_FREE)
    bench_lane_submit(ring, lanes, mine);
  if (mine.state == BENCH_WRITTEN) {
    bench_ring_in_order(ring, lanes.out);
    if (bench_is_passed(lanes.out, mine.number)) {
      mine.at = mine.number;
      mine.searching = false;
      mine.state = BENCH_WATCHING;
    }
  }
  if (mine.state == BENCH_WATCHING)
    bench_lane_look(ring, lanes, mine);
  if (mine.state == BENCH_TAKEN) {
    bench_pass_in_order(ring, lanes.in);
    if (bench_is_passed(lanes.in, mine.at)) {
      mine.index += limit;
      mine.state = BENCH_FREE;
    }
  }
}

struct bench_each {
  XIOKV_DEVICE void run(const xiokv_batch &batch, uint32_t number) {
    XIOKV_SHARED_VARIABLE(bench_lanes, lanes);
    const bench_ring ring = bench_open(batch, number);
    const bench_share share = bench_share_of(batch, number);
    const uint32_t most = bench_limit(ring.queue);
    const uint32_t limit = most < XIOKV_LANES ? most : XIOKV_LANES;
    if (xiokv_lane() == 0)
      lanes.next = lanes.overdue = 0;
    bench_clear(lanes.out);
    bench_clear(lanes.in);
    xiokv_barrier();
    bench_lane mine = {BENCH_FREE, share.first + xiokv_lane(), 0, 0, false, 0};
    if (xiokv_lane() < limit)
      while (mine.index < share.end && bench_peek(&lanes.overdue) == 0) {
        bench_lane_step(ring, lanes, mine, limit);
        if (mine.state != BENCH_FREE && bench_is_overdue(ring, mine.since))
          xiokv_shared_add(&lanes.overdue, 1);
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
