// SPDX-License-Identifier: MIT
/// @file
/// @brief What the baselines share: a share of the batch, an entry out, an
/// entry in. They use the encoders, rings and results that the engine uses.
#pragma once

#include "xiokv/kv_module.h"

/// @brief Keys [first, end) of a batch.
struct bench_share {
  uint32_t first;
  uint32_t end;
};

/// @brief The keys of one queue: as many as any other's, with no claims.
XIOKV_DEVICE bench_share bench_share_of(const xiokv_batch &batch,
                                        uint32_t number) {
  const uint64_t count = batch.count;
  return {static_cast<uint32_t>(count * number / batch.queue_count),
          static_cast<uint32_t>(count * (number + 1) / batch.queue_count)};
}

/// @brief Where a queue's rings stand at the start of a launch.
struct bench_ring {
  xiokv_queue queue;
  xiokv_queue *stored;
  const xiokv_batch *batch;
};

XIOKV_DEVICE bench_ring bench_open(const xiokv_batch &batch, uint32_t number) {
  bench_ring ring;
  ring.stored = reinterpret_cast<xiokv_queue *>(batch.queues) + number;
  ring.queue = *ring.stored;
  ring.batch = &batch;
  return ring;
}

/// @brief Most commands in flight that the rings and the slots allow.
XIOKV_DEVICE uint32_t bench_limit(const xiokv_queue &queue) {
  uint32_t depth = queue.sq_depth;
  if (queue.cq_depth < depth)
    depth = queue.cq_depth;
  return queue.window < depth - 1u ? queue.window : depth - 1u;
}

/// @brief SQ slot of the command that is `number` after the first.
XIOKV_DEVICE uint32_t bench_sq_slot(const bench_ring &ring, uint32_t number) {
  return static_cast<uint32_t>(
      (static_cast<uint64_t>(ring.queue.sq_tail) + number) %
      ring.queue.sq_depth);
}

/// @brief CQ slot of the completion that is `number` after the first.
XIOKV_DEVICE uint32_t bench_cq_slot(const bench_ring &ring, uint32_t number) {
  return static_cast<uint32_t>(
      (static_cast<uint64_t>(ring.queue.cq_head) + number) %
      ring.queue.cq_depth);
}

/// @brief Phase of the completion that is `number` after the first.
XIOKV_DEVICE uint32_t bench_phase(const bench_ring &ring, uint32_t number) {
  const uint64_t place = static_cast<uint64_t>(ring.queue.cq_head) + number;
  return ring.queue.cq_phase ^ (place / ring.queue.cq_depth & 1u);
}

/// @brief Encode the Retrieve of key `index` into the SQ slot of command
/// `number`. The CID says whose list pages are used.
XIOKV_DEVICE void bench_submit(const bench_ring &ring, uint32_t number,
                               uint32_t cid, uint32_t index) {
  const xiokv_request request =
      xiokv_make_request(ring.queue, *ring.batch,
                         xiokv_read_inputs(*ring.batch, index, true), cid, cid);
  xiokv_sqe sqe =
      xiokv_encode_retrieve_raw(request.nsid, &request.key, request.size,
                                request.options, &request.reserved);
  xiokv_finish(sqe, request);
  uint32_t *to =
      reinterpret_cast<xiokv_sqe *>(ring.queue.sq)[bench_sq_slot(ring, number)]
          .dw;
  for (uint32_t i = 0; i < 16; i += 4)
    xiokv_store16(to + i, xiokv_words{{sqe.dw[i], sqe.dw[i + 1], sqe.dw[i + 2],
                                       sqe.dw[i + 3]}});
}

/// @brief The CQ entry of completion `number`.
XIOKV_DEVICE const xiokv_words *bench_entry_at(const bench_ring &ring,
                                               uint32_t number) {
  return reinterpret_cast<const xiokv_words *>(ring.queue.cq) +
         bench_cq_slot(ring, number);
}

/// @brief Whether an entry is that of completion `number`, and none before.
XIOKV_DEVICE bool bench_is_new(const bench_ring &ring, uint32_t number,
                               const xiokv_words &entry) {
  return (entry.word[3] >> 16 & 1u) == bench_phase(ring, number);
}

XIOKV_DEVICE uint32_t bench_cid(const xiokv_words &entry) {
  return entry.word[3] & 0xffffu;
}

/// @brief Write the result of a key from the entry of its completion.
XIOKV_DEVICE void bench_settle(const bench_ring &ring, const xiokv_words &entry,
                               uint32_t index) {
  const uint32_t status = entry.word[3] >> 17;
  const xiokv_completed done =
      xiokv_read(XIOKV_OPC_RETRIEVE, status, entry.word[0],
                 xiokv_value_size(*ring.batch, index));
  reinterpret_cast<xiokv_result *>(ring.batch->results)[index] = {
      done.value_size, static_cast<uint16_t>(status),
      static_cast<uint8_t>(done.outcome), 0};
}

XIOKV_DEVICE void bench_doorbell(uint64_t address, uint32_t slot) {
  xiokv_store32(reinterpret_cast<void *>(address), slot);
}

/// @brief The deadline of one wait. The clock is read once in many polls, so
/// that a poll is not held up by it.
struct bench_patience {
  uint32_t polls;
  uint64_t since; ///< At the first look at the clock; 0: there was none.
};

#define BENCH_POLLS_A_LOOK 256u

/// @brief Note a poll that found nothing.
/// @return Whether the wait has taken the batch's deadline.
XIOKV_DEVICE bool bench_is_overdue(bench_patience &patience,
                                   const xiokv_batch &batch) {
  xiokv_pause(++patience.polls);
  if (patience.polls % BENCH_POLLS_A_LOOK != 0)
    return false;
  const uint64_t now = xiokv_clock();
  if (patience.since == 0)
    patience.since = now;
  return now - patience.since >= batch.deadline;
}

/// @brief Give the queue up: something is still in flight on it.
XIOKV_DEVICE void bench_abandon(const bench_ring &ring) {
  ring.stored->state = XIOKV_QUEUE_DEAD;
}

/// @brief Save where the rings stand after `count` commands, for the next
/// launch; one lane.
XIOKV_DEVICE void bench_save(const bench_ring &ring, uint32_t count) {
  ring.stored->sq_tail = bench_sq_slot(ring, count);
  ring.stored->cq_head = bench_cq_slot(ring, count);
  ring.stored->cq_phase = bench_phase(ring, count);
}
