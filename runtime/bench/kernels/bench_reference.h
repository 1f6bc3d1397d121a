// SPDX-License-Identifier: MIT
/// @file
/// @brief The usual shape: all lanes encode a batch, one doorbell covers it,
/// and one thread takes the completions in order, one round trip after the
/// other. The next batch begins when the last completion is in.
///
/// The reference has fences and loads as the field writes them; the lean one
/// has the cheapest that are enough.
#pragma once

#include "bench_ring.h"

/// @brief The fence that the field's code has: of both directions, and in one
/// order for all threads.
XIOKV_DEVICE void bench_full_fence() {
#if defined(__CUDA_ARCH__)
  __threadfence_system();
#elif defined(__AMDGCN__)
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
#else
  xiokv_release_system();
#endif
}

/// @brief How the reference reads an entry: its halves, one after the other.
struct bench_field {
  XIOKV_DEVICE void release() { bench_full_fence(); }
  XIOKV_DEVICE void acquire() { bench_full_fence(); }
  XIOKV_DEVICE xiokv_words load(const xiokv_words *entry) {
    const volatile uint64_t *half =
        reinterpret_cast<const volatile uint64_t *>(entry);
    const uint64_t low = half[0];
    const uint64_t high = half[1];
    return xiokv_words{
        {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
         static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)}};
  }
};

/// @brief The same with the engine's own fences and loads.
struct bench_lean {
  XIOKV_DEVICE void release() { xiokv_release_system(); }
  XIOKV_DEVICE void acquire() { xiokv_acquire_system(); }
  XIOKV_DEVICE xiokv_words load(const xiokv_words *entry) {
    return xiokv_load16(entry);
  }
};

/// @brief Take completions `done` to `done + count`; lane 0.
/// @return Whether all came in time.
template <class Way>
XIOKV_DEVICE bool bench_take_in_order(const bench_ring &ring, uint32_t done,
                                      uint32_t count, uint32_t first) {
  for (uint32_t number = done; number < done + count; ++number) {
    const xiokv_words *at = bench_entry_at(ring, number);
    bench_patience patience = {0, 0};
    while (!bench_is_new(ring, number, Way::load(at)))
      if (bench_is_overdue(patience, *ring.batch))
        return false;
    Way::acquire();
    const xiokv_words entry = Way::load(at);
    bench_settle(ring, entry, first + bench_cid(entry));
  }
  bench_doorbell(ring.queue.cq_doorbell, bench_cq_slot(ring, done + count));
  return true;
}

template <class Way> struct bench_batches {
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
      Way::release();
      xiokv_barrier();
      if (xiokv_lane() == 0) {
        bench_doorbell(ring.queue.sq_doorbell,
                       bench_sq_slot(ring, done + count));
        in_time = bench_take_in_order<Way>(ring, done, count, first);
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

using bench_reference = bench_batches<bench_field>;
using bench_lean_reference = bench_batches<bench_lean>;
