// SPDX-License-Identifier: MIT
/// @file
/// @brief What the relay's kernel and the runtime share: the queues that lie in
/// a GPU's memory, each with its shadow where a controller on the CPU reaches
/// it.
#pragma once

#include <stdint.h>

/// @brief One queue pair, in page-locked memory; all zero: none. Addresses are
/// the device's.
struct xiokv_relay_queue {
  // What the engine writes and reads.
  uint64_t sq;
  uint64_t cq;
  uint64_t sq_doorbell;
  uint64_t cq_doorbell;
  // What the controller reads and writes.
  uint64_t shadow_sq;
  uint64_t shadow_cq;
  uint64_t shadow_sq_doorbell;
  uint64_t shadow_cq_doorbell;
  uint32_t sq_depth; ///< Entries of both submission rings.
  uint32_t cq_depth; ///< Entries of both completion rings.
  uint32_t tail;     ///< SQ tail as the controller knows it.
  uint32_t head;     ///< CQ head as the controller knows it.
  uint32_t position; ///< Slot of the next completion.
  uint32_t phase;    ///< Its phase.
};

/// @brief The kernel's argument.
struct xiokv_relay_launch {
  uint64_t stop;   ///< Address of a word: other than 0 ends all waves.
  uint64_t queues; ///< Address of a struct xiokv_relay_queue for each queue.
  uint64_t lease;  ///< Ticks after which a wave ends.
  uint32_t groups; ///< Workgroups a queue: 2 where each has one wave, else 1.
  uint32_t reserved;
};
