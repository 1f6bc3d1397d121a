// SPDX-License-Identifier: MIT
/// @file
/// @brief A hash of the layout of every structure in kv_abi.h.
///
/// The runtime computes the same hash from its own declarations and refuses a
/// module whose hash differs. Members are listed in order; a test compares the
/// list with kv_abi.h.
#pragma once

#include <stddef.h>

#include "xiokv/kv_abi.h"

#define XIOKV_AT(type, member) offsetof(struct type, member)

/// @brief The numbers that make up the layout: version, sizes, offsets.
static constexpr uint64_t xiokv_abi_layout[] = {
    XIOKV_ABI_VERSION,
    sizeof(struct xiokv_result),
    XIOKV_AT(xiokv_result, value_size),
    XIOKV_AT(xiokv_result, status),
    XIOKV_AT(xiokv_result, outcome),
    XIOKV_AT(xiokv_result, reserved),
    sizeof(struct xiokv_queue_report),
    XIOKV_AT(xiokv_queue_report, submitted),
    XIOKV_AT(xiokv_queue_report, completed),
    XIOKV_AT(xiokv_queue_report, stale),
    XIOKV_AT(xiokv_queue_report, unknown),
    XIOKV_AT(xiokv_queue_report, foreign),
    XIOKV_AT(xiokv_queue_report, oversize),
    XIOKV_AT(xiokv_queue_report, timeouts),
    XIOKV_AT(xiokv_queue_report, doorbells),
    sizeof(struct xiokv_queue),
    XIOKV_AT(xiokv_queue, sq),
    XIOKV_AT(xiokv_queue, cq),
    XIOKV_AT(xiokv_queue, sq_doorbell),
    XIOKV_AT(xiokv_queue, cq_doorbell),
    XIOKV_AT(xiokv_queue, tables),
    XIOKV_AT(xiokv_queue, prp_pool),
    XIOKV_AT(xiokv_queue, prp_iova),
    XIOKV_AT(xiokv_queue, mirror),
    XIOKV_AT(xiokv_queue, prp_pages),
    XIOKV_AT(xiokv_queue, sq_depth),
    XIOKV_AT(xiokv_queue, cq_depth),
    XIOKV_AT(xiokv_queue, window),
    XIOKV_AT(xiokv_queue, qid),
    XIOKV_AT(xiokv_queue, nsid),
    XIOKV_AT(xiokv_queue, max_transfer),
    XIOKV_AT(xiokv_queue, max_value),
    XIOKV_AT(xiokv_queue, sq_tail),
    XIOKV_AT(xiokv_queue, cq_head),
    XIOKV_AT(xiokv_queue, cq_phase),
    XIOKV_AT(xiokv_queue, free_position),
    XIOKV_AT(xiokv_queue, state),
    XIOKV_AT(xiokv_queue, reserved),
    XIOKV_AT(xiokv_queue, report),
    sizeof(struct xiokv_semantic),
    XIOKV_AT(xiokv_semantic, per_key),
    XIOKV_AT(xiokv_semantic, mask),
    XIOKV_AT(xiokv_semantic, value),
    sizeof(struct xiokv_batch_state),
    XIOKV_AT(xiokv_batch_state, claimed),
    XIOKV_AT(xiokv_batch_state, exited),
    XIOKV_AT(xiokv_batch_state, reserved),
    sizeof(struct xiokv_stop),
    XIOKV_AT(xiokv_stop, flag),
    XIOKV_AT(xiokv_stop, reserved),
    sizeof(struct xiokv_batch),
    XIOKV_AT(xiokv_batch, queues),
    XIOKV_AT(xiokv_batch, first_ring),
    XIOKV_AT(xiokv_batch, state),
    XIOKV_AT(xiokv_batch, stop),
    XIOKV_AT(xiokv_batch, keys),
    XIOKV_AT(xiokv_batch, key_lengths),
    XIOKV_AT(xiokv_batch, sizes),
    XIOKV_AT(xiokv_batch, offsets),
    XIOKV_AT(xiokv_batch, stride),
    XIOKV_AT(xiokv_batch, iova),
    XIOKV_AT(xiokv_batch, page_table),
    XIOKV_AT(xiokv_batch, page_offset),
    XIOKV_AT(xiokv_batch, results),
    XIOKV_AT(xiokv_batch, deadline),
    XIOKV_AT(xiokv_batch, total),
    XIOKV_AT(xiokv_batch, count),
    XIOKV_AT(xiokv_batch, queue_count),
    XIOKV_AT(xiokv_batch, chunk),
    XIOKV_AT(xiokv_batch, key_length),
    XIOKV_AT(xiokv_batch, value_size),
    XIOKV_AT(xiokv_batch, options),
    XIOKV_AT(xiokv_batch, semantic),
};

/// @brief FNV-1a over the layout, 64-bit words in place of bytes.
static constexpr uint64_t xiokv_abi_hash() {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (uint64_t number : xiokv_abi_layout)
    hash = (hash ^ number) * UINT64_C(0x100000001b3);
  return hash;
}
