// SPDX-License-Identifier: MIT
/// @file
/// @brief The usual shape: all lanes encode a batch, one doorbell covers it,
/// and one thread takes the completions in order, one round trip after the
/// other. The next batch begins when the last completion is in.
#pragma once

#include "bench_ring.h"

/// @brief Take completions `done` to `done + count`; lane 0.
/// @return Whether all came in time.
XIOKV_DEVICE bool bench_take_in_order(const bench_ring &ring, uint32_t done,
                                      uint32_t count, uint32_t first) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t since = xiokv_clock();
    xiokv_words entry = bench_entry(ring, done + i);
    while (!bench_is_new(ring, done + i, entry)) {
      if (bench_is_overdue(ring, since))
        return false;
      xiokv_pause();
      entry = bench_entry(ring, done + i);
    }
    bench_settle(ring, done + i, first + bench_cid(entry));
  }
  bench_doorbell(ring.queue.cq_doorbell, bench_cq_slot(ring, done + count));
  return true;
}

struct bench_reference {
  XIOKV_DEVICE void run(const xiokv_batch &batch, uint32_t number) {
    XIOKV_SHARED_VARIABLE(uint32_t, in_time);
    const bench_ring ring = bench_open(batch, number);
    const bench_share share = bench_share_of(batch, number);
    const uint32_t most = bench_limit(ring.queue);
    uint32_t done = 0;
    while (share.first + done < share.end) {
      const uint32_t first = share.first + done;
      const uint32_t left = share.end - first;
      const uint32_t count = left < most ? left : most;
      for (uint32_t i = xiokv_lane(); i < count; i += XIOKV_LANES)
        bench_submit(ring, done + i, i, first + i);
      xiokv_release_system();
      xiokv_barrier();
      if (xiokv_lane() == 0) {
        bench_doorbell(ring.queue.sq_doorbell,
                       bench_sq_slot(ring, done + count));
        in_time = bench_take_in_order(ring, done, count, first);
      }
      xiokv_barrier();
      if (!in_time) {
        bench_abandon(ring);
        return;
      }
      done += count;
    }
    if (xiokv_lane() == 0)
      bench_save(ring, done);
  }
};
