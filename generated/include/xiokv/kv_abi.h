// Copied by `xiokv-gen build` from the static templates of xiokv; do not edit.
// clang-format off
// SPDX-License-Identifier: MIT
/// @file
/// @brief Structures that the runtime on the host and the batch engine on the
/// device share.
///
/// Their layout is the ABI of a compiled module; kv_abi_hash.h hashes it.
/// Addresses are 64-bit integers, so that a layout is the same on every target:
/// a "device address" is one the engine loads from and stores to, an "IOVA" one
/// that the controller reaches.
#pragma once

#include <stdint.h>

/// @brief Version of what these structures mean; changed by hand whenever a
/// meaning changes while the layout does not.
#define XIOKV_ABI_VERSION 1u

/// @brief Bytes of a PRP page; attach refuses a controller with another.
#define XIOKV_PAGE_BYTES 4096u

/// @brief Largest window W: slots 0..65534, so that CID FFFFh is never used.
#define XIOKV_WINDOW_MAX 65535u

/// @brief xiokv_result.status of a key for which no completion was believed.
#define XIOKV_NO_STATUS 0xffffu

/// @brief What became of one key.
enum xiokv_outcome {
  XIOKV_OUTCOME_NONE = 0,      ///< Never written: no kernel got to this key.
  XIOKV_OUTCOME_OK = 1,        ///< The command succeeded.
  XIOKV_OUTCOME_TRUNCATED = 2, ///< The value is larger than its buffer.
  XIOKV_OUTCOME_MISSING = 3,   ///< Status 87h: the key does not exist.
  XIOKV_OUTCOME_EXISTS = 4,    ///< Status 89h: the key exists.
  XIOKV_OUTCOME_ERROR = 5,     ///< Another status, or an oversize value.
  XIOKV_OUTCOME_TIMEOUT = 6,   ///< No completion within the deadline.
  XIOKV_OUTCOME_CANCELLED = 7, ///< Not submitted: the stop flag came first.
};

/// @brief Whether a queue takes commands.
enum xiokv_queue_state {
  XIOKV_QUEUE_READY = 0, ///< It does.
  XIOKV_QUEUE_DEAD = 1,  ///< A command timed out; its buffer may be written.
};

/// @brief Result of one key; all zero before the launch.
struct xiokv_result {
  uint32_t value_size; ///< Retrieve: the value's full size in bytes.
  uint16_t status;     ///< CQE status, bits 15:1, or XIOKV_NO_STATUS.
  uint8_t outcome;     ///< enum xiokv_outcome.
  uint8_t reserved;    ///< 0.
};

/// @brief Counters of one queue since it was attached.
struct xiokv_queue_report {
  uint64_t submitted; ///< Commands covered by a doorbell.
  uint64_t completed; ///< Completions believed.
  uint64_t stale;     ///< CQEs of a free CID or of an older generation.
  uint64_t unknown;   ///< CQEs of a CID that this queue never uses.
  uint64_t foreign;   ///< CQEs that name another SQID.
  uint64_t oversize;  ///< Sizes above the namespace's maximum, not believed.
  uint64_t timeouts;  ///< Keys given XIOKV_OUTCOME_TIMEOUT.
  uint64_t doorbells; ///< SQ doorbell writes.
};

/// @brief A queue pair as the engine sees it; ring state stays here from launch
/// to launch.
struct xiokv_queue {
  uint64_t sq;            ///< Device address of the submission ring.
  uint64_t cq;            ///< Device address of the completion ring.
  uint64_t sq_doorbell;   ///< Device address of the SQ tail doorbell.
  uint64_t cq_doorbell;   ///< Device address of the CQ head doorbell.
  uint64_t tables;        ///< Device address, XIOKV_TABLE_BYTES(window).
  uint64_t prp_pool;      ///< Device address of the PRP list pages.
  uint64_t prp_iova;      ///< IOVA of the same pages.
  uint64_t mirror;        ///< Device address of another struct xiokv_queue, in
                          ///< the host's memory, whose ring state, state and
                          ///< report are written at the end of a batch; or 0.
  uint32_t prp_pages;     ///< List pages a slot.
  uint32_t sq_depth;      ///< Entries, 2..65536.
  uint32_t cq_depth;      ///< Entries, 2..65536.
  uint32_t window;        ///< Command slots W, 1..XIOKV_WINDOW_MAX.
  uint32_t qid;           ///< SQID that completions must name.
  uint32_t nsid;          ///< Namespace of every command.
  uint32_t max_transfer;  ///< Largest buffer in bytes: limits and pool.
  uint32_t max_value;     ///< Largest value the namespace holds, in bytes.
  uint32_t sq_tail;       ///< Next SQ slot to fill.
  uint32_t cq_head;       ///< Next CQ slot to take.
  uint32_t cq_phase;      ///< Phase of new entries, 0 or 1.
  uint32_t free_position; ///< Oldest free CID in the free ring.
  uint32_t state;         ///< enum xiokv_queue_state.
  uint32_t reserved;      ///< 0.
  struct xiokv_queue_report report; ///< What the engine counted.
};

/// @brief One of the three places that may carry semantic fields.
struct xiokv_semantic {
  uint64_t per_key; ///< Device address of a uint32_t a key, or 0.
  uint32_t mask;    ///< Bits that may be set, in place in the dword.
  uint32_t value;   ///< Bits for the whole batch, in place in the dword.
};

/// @brief Places in xiokv_batch.semantic.
enum xiokv_semantic_place {
  XIOKV_SEMANTIC_CDW11 = 0,  ///< CDW11 bits 31:16.
  XIOKV_SEMANTIC_CDW12 = 1,  ///< All of CDW12.
  XIOKV_SEMANTIC_CDW13 = 2,  ///< All of CDW13.
  XIOKV_SEMANTIC_PLACES = 3, ///< How many there are.
};

/// @brief What the queues of one launch share; all zero before the launch and,
/// by the last queue that leaves, after it.
struct xiokv_batch_state {
  uint64_t claimed;  ///< Keys claimed so far; may pass the count.
  uint32_t exited;   ///< Queues that have left the batch.
  uint32_t reserved; ///< 0.
};

/// @brief Stop flag, 16-byte aligned: it is polled with the completions.
struct xiokv_stop {
  uint32_t flag;        ///< Non-zero: submit no more, drain, return.
  uint32_t reserved[3]; ///< 0.
};

/// @brief One launch: a command for `count` keys over `queue_count` queues.
struct xiokv_batch {
  uint64_t queues;      ///< Device address of the struct xiokv_queue array.
  uint64_t first_ring;  ///< `tables` of the first queue, which are then read
                        ///< at the same time as the queue; or 0.
  uint64_t state;       ///< Device address of struct xiokv_batch_state.
  uint64_t stop;        ///< Device address of struct xiokv_stop.
  uint64_t keys;        ///< Device address of 16 zero-padded bytes a key.
  uint64_t key_lengths; ///< Device address of a uint8_t a key, or 0.
  uint64_t sizes;       ///< Device address of a uint32_t a key, or 0.
  uint64_t offsets;     ///< Device address of a uint64_t a key, or 0.
  uint64_t stride;      ///< Bytes from value to value where offsets is 0.
  uint64_t iova;        ///< IOVA of the value buffer, if contiguous.
  uint64_t page_table;  ///< Device address of a uint64_t IOVA a page, or 0.
  uint64_t page_offset; ///< Where in its first page the buffer starts.
  uint64_t results;     ///< Device address of the struct xiokv_result array.
  uint64_t deadline;    ///< Clock ticks without progress before TIMEOUT.
  uint64_t total;       ///< Clock ticks for the whole batch; 0: no limit.
  uint32_t count;       ///< Keys.
  uint32_t queue_count; ///< Queues, a workgroup each.
  uint32_t chunk;       ///< Keys a claim.
  uint32_t key_length;  ///< Bytes of every key where key_lengths is 0.
  uint32_t value_size;  ///< Bytes of every value where sizes is 0.
  uint32_t options;     ///< Request options, CDW11 bits 15:8.
  struct xiokv_semantic semantic[XIOKV_SEMANTIC_PLACES]; ///< By place.
};

/// @brief Bytes of a queue's free ring: 2 a slot, rounded up to a step, which
/// an engine may read before it knows the window.
#define XIOKV_RING_STEP 2048u
#define XIOKV_RING_BYTES(window)                                               \
  (((uint64_t)(window) * 2u + XIOKV_RING_STEP - 1u) / XIOKV_RING_STEP *        \
   XIOKV_RING_STEP)

/// @brief Bytes of a queue's tables: the free ring, then the live CIDs and the
/// key indices (4 a slot each).
#define XIOKV_TABLE_BYTES(window)                                              \
  (XIOKV_RING_BYTES(window) + (uint64_t)(window) * 8u)
