// SPDX-License-Identifier: MIT
/// @file
/// @brief The relay's kernel: a workgroup carries a queue's submissions to its
/// shadow and completions back, until its lease is over or the stop word is
/// set.
#include "entry.h"
#include "relay_ring.h"

constexpr uint32_t xiokv_relay_sqe_bytes = 64;
constexpr uint32_t xiokv_relay_cqe_bytes = 16;

XIOKV_DEVICE bool xiokv_relay_is_over(const xiokv_relay_launch &launch,
                                      uint64_t end) {
  const bool over = xiokv_peek(launch.stop) != 0 || xiokv_clock() >= end;
  return xiokv_first_lane(over) != 0;
}

/// @brief Let the controller know how far completions were taken.
/// @return The CQ head that it knows now.
XIOKV_DEVICE uint32_t xiokv_relay_head(const xiokv_relay_queue &queue,
                                       uint32_t head) {
  const uint32_t now =
      xiokv_first_lane(static_cast<uint32_t>(xiokv_peek(queue.cq_doorbell)));
  if (now != head && xiokv_wave_lane() == 0)
    xiokv_store32(xiokv_at<void>(queue.shadow_cq_doorbell), now);
  return now;
}

/// @brief Copy the entries from one tail to the next.
XIOKV_DEVICE void xiokv_relay_entries(const xiokv_relay_queue &queue,
                                      uint32_t from, uint32_t to) {
  constexpr uint32_t words = xiokv_relay_sqe_bytes / sizeof(xiokv_words);
  const uint32_t count = to >= from ? to - from : to + queue.sq_depth - from;
  for (uint32_t i = xiokv_wave_lane(); i < count * words;
       i += xiokv_wave_width()) {
    const uint32_t slot = from + i / words;
    const uint64_t wrapped =
        slot < queue.sq_depth ? slot : slot - queue.sq_depth;
    const uint64_t at =
        wrapped * xiokv_relay_sqe_bytes + i % words * sizeof(xiokv_words);
    xiokv_store16(xiokv_at<void>(queue.shadow_sq + at),
                  xiokv_load16(xiokv_at<const void>(queue.sq + at)));
  }
}

/// @brief Carry doorbells and submissions, as one wave.
XIOKV_DEVICE void xiokv_relay_submissions(const xiokv_relay_launch &launch,
                                          xiokv_relay_queue *record,
                                          uint64_t end) {
  const xiokv_relay_queue queue = *record;
  uint32_t tail = queue.tail;
  uint32_t head = queue.head;
  do {
    const uint32_t rung = xiokv_first_lane(
        static_cast<uint32_t>(xiokv_peek_acquire(queue.sq_doorbell)));
    const bool is_new = rung != tail && rung < queue.sq_depth;
    xiokv_wave_barrier();
    // The room that new commands count on goes before them.
    head = xiokv_relay_head(queue, head);
    if (is_new) {
      xiokv_relay_entries(queue, tail, rung);
      xiokv_release_system();
      xiokv_wave_barrier();
      if (xiokv_wave_lane() == 0)
        xiokv_store32(xiokv_at<void>(queue.shadow_sq_doorbell), rung);
      tail = rung;
    } else {
      xiokv_pause();
    }
  } while (!xiokv_relay_is_over(launch, end));
  if (xiokv_wave_lane() == 0) {
    record->tail = tail;
    record->head = head;
  }
}

/// @brief Carry completions, as one wave: a run of new ones at once, each with
/// its phase last.
XIOKV_DEVICE void xiokv_relay_completions(const xiokv_relay_launch &launch,
                                          xiokv_relay_queue *record,
                                          uint64_t end) {
  const xiokv_relay_queue queue = *record;
  uint32_t position = queue.position;
  uint32_t phase = queue.phase;
  do {
    const uint32_t slot = position + xiokv_wave_lane();
    const bool is_slot = slot < queue.cq_depth;
    const uint64_t at = slot * static_cast<uint64_t>(xiokv_relay_cqe_bytes);
    xiokv_words entry = {};
    if (is_slot)
      entry = xiokv_load16(xiokv_at<const void>(queue.shadow_cq + at));
    const uint32_t run = xiokv_leading_run(
        xiokv_ballot(is_slot && (entry.word[3] >> 16 & 1u) == phase));
    if (run == 0) {
      xiokv_pause();
      continue;
    }
    xiokv_acquire_system();
    const bool mine = xiokv_wave_lane() < run;
    if (mine) {
      // What came with the phase may be older than it.
      entry = xiokv_load16(xiokv_at<const void>(queue.shadow_cq + at));
      for (uint32_t dword = 0; dword < 3; ++dword)
        xiokv_store32(xiokv_at<void>(queue.cq + at + 4 * dword),
                      entry.word[dword]);
    }
    xiokv_release_system();
    if (mine)
      xiokv_store32(xiokv_at<void>(queue.cq + at + 12), entry.word[3]);
    position += run;
    if (position == queue.cq_depth) {
      position = 0;
      phase ^= 1u;
    }
  } while (!xiokv_relay_is_over(launch, end));
  if (xiokv_wave_lane() == 0) {
    record->position = position;
    record->phase = phase;
  }
}

/// @brief One wave carries one way, another the other; none where a place of
/// the table is empty.
XIOKV_DEVICE void xiokv_run_relay(const xiokv_relay_launch &launch,
                                  uint32_t group) {
  xiokv_relay_queue *queue =
      xiokv_at<xiokv_relay_queue>(launch.queues) + group / launch.groups;
  if (queue->sq == 0)
    return;
  const uint64_t end = xiokv_clock() + launch.lease;
  const uint32_t wave = group % launch.groups + xiokv_wave();
  if (wave == 0)
    xiokv_relay_submissions(launch, queue, end);
  else if (wave == 1)
    xiokv_relay_completions(launch, queue, end);
}

XIOKV_DEFINE_ENTRY(xiokv_kernel_relay, xiokv_relay_launch, xiokv_run_relay)
