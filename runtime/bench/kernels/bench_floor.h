// SPDX-License-Identifier: MIT
/// @file
/// @brief What a round trip costs, what a launch costs, and a gate that holds a
/// stream until all that is to be timed is in it. The members of the batch that
/// they use are said with each.
#pragma once

#include "bench_ring.h"

/// @brief Write `number` at `keys`, wait until it is at `results`, `count`
/// times; at the end the rounds that were answered in time go to `state`.
struct bench_ping_pong {
  XIOKV_DEVICE void run(const xiokv_batch &batch, uint32_t) {
    if (xiokv_lane() != 0)
      return;
    uint32_t done = 0;
    while (done < batch.count && answered(batch, done + 1))
      ++done;
    xiokv_store32(reinterpret_cast<void *>(batch.state), done);
  }

  XIOKV_DEVICE bool answered(const xiokv_batch &batch, uint32_t number) {
    const void *answer = reinterpret_cast<const void *>(batch.results);
    bench_patience patience = {0, 0};
    xiokv_store32(reinterpret_cast<void *>(batch.keys), number);
    while (xiokv_load16(answer).word[0] != number)
      if (bench_is_overdue(patience, batch))
        return false;
    return true;
  }
};

/// @brief Wait for `stop`, at most `deadline`.
struct bench_gate {
  XIOKV_DEVICE void run(const xiokv_batch &batch, uint32_t) {
    const void *stop = reinterpret_cast<const void *>(batch.stop);
    bench_patience patience = {0, 0};
    while (xiokv_load16(stop).word[0] == 0 &&
           !bench_is_overdue(patience, batch)) {
    }
  }
};

/// @brief Do nothing.
struct bench_nothing {
  XIOKV_DEVICE void run(const xiokv_batch &, uint32_t) {}
};
