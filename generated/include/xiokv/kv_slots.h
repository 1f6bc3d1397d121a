// Copied by `xiokv-gen build` from the static templates of xiokv; do not edit.
// clang-format off
// SPDX-License-Identifier: MIT
/// @file
/// @brief Command slots of a queue: which CID is free, and which key it stands
/// for.
///
/// A CID is a slot number with a generation in the bits above it, so that a
/// late completion of an earlier use of the slot is told apart from the present
/// one. Free CIDs wait in a first-in first-out ring, which keeps a CID out of
/// use for as long as possible. FFFFh is never used: the slot number with all
/// bits set is never reached.
#pragma once

#include "xiokv/kv_abi.h"
#include "xiokv/kv_platform.h"

/// @brief Value in the live table of a slot that has no command in flight.
#define XIOKV_SLOT_FREE 0xffffffffu

/// @brief CIDs that are read and copied at once of a free ring.
#define XIOKV_RING_CIDS 8u

/// @brief The tables of one queue, in shared memory or in the queue's own.
struct xiokv_slots {
  uint16_t *free_ring; ///< `window` CIDs, generation included.
  uint32_t *live;      ///< The CID in flight a slot, or XIOKV_SLOT_FREE.
  uint32_t *key;       ///< Index in the batch of the key in flight a slot.
  uint32_t window;
  uint32_t slot_bits; ///< Bits of a CID that hold the slot number.
};

/// @brief Bits that hold slot numbers 0..window-1 and leave one unused;
/// `window` is not 0.
XIOKV_DEVICE uint32_t xiokv_slot_bits(uint32_t window) {
  return 32u - xiokv_leading_zeros(window);
}

/// @brief Tables that lie in the queue's own memory, as XIOKV_TABLE_BYTES.
XIOKV_DEVICE xiokv_slots xiokv_slots_in_queue(const xiokv_queue &queue) {
  xiokv_slots slots;
  slots.free_ring = reinterpret_cast<uint16_t *>(queue.tables);
  slots.live = reinterpret_cast<uint32_t *>(queue.tables +
                                            XIOKV_RING_BYTES(queue.window));
  slots.key = slots.live + queue.window;
  slots.window = queue.window;
  slots.slot_bits = xiokv_slot_bits(queue.window);
  return slots;
}

/// @brief `position + step` in a ring of `size`, for step <= size <= 65536.
XIOKV_DEVICE uint32_t xiokv_wrap(uint32_t position, uint32_t step,
                                 uint32_t size) {
  const uint32_t sum = position + step;
  return sum < size ? sum : sum - size;
}

/// @brief Slot number of a CID; `window` or more where no slot has it.
XIOKV_DEVICE uint32_t xiokv_slot_of(const xiokv_slots &slots, uint32_t cid) {
  return cid & ((1u << slots.slot_bits) - 1u);
}

/// @brief The CID that the slot's next use carries: one generation on.
XIOKV_DEVICE uint16_t xiokv_next_cid(const xiokv_slots &slots, uint32_t cid) {
  return static_cast<uint16_t>(cid + (1u << slots.slot_bits));
}

/// @brief Take the free CID at a ring position for key `index`.
XIOKV_DEVICE uint32_t xiokv_slot_take(const xiokv_slots &slots,
                                      uint32_t position, uint32_t index) {
  const uint32_t cid = slots.free_ring[position];
  const uint32_t slot = xiokv_slot_of(slots, cid);
  slots.live[slot] = cid;
  slots.key[slot] = index;
  return cid;
}

static_assert(XIOKV_SHARED_WINDOW * 2u <= XIOKV_RING_STEP,
              "a ring in shared memory is read before its window is known");

/// @brief Entries of each table; an array has one at least.
#define XIOKV_SHARED_ENTRIES                                                   \
  (XIOKV_SHARED_WINDOW != 0 ? XIOKV_SHARED_WINDOW : 1u)

/// @brief Reads that the ring in shared memory takes.
#define XIOKV_RING_WORDS                                                       \
  ((XIOKV_SHARED_ENTRIES + XIOKV_RING_CIDS - 1u) / XIOKV_RING_CIDS)

/// @brief Tables in a workgroup's shared memory.
struct alignas(16) xiokv_shared_tables {
  uint16_t free_ring[XIOKV_RING_WORDS * XIOKV_RING_CIDS];
  uint32_t live[XIOKV_SHARED_ENTRIES];
  uint32_t key[XIOKV_SHARED_ENTRIES];
};

/// @brief The same tables as `stored`, in shared memory.
XIOKV_DEVICE xiokv_slots xiokv_slots_in_shared(xiokv_shared_tables &tables,
                                               const xiokv_slots &stored) {
  xiokv_slots slots = stored;
  slots.free_ring = tables.free_ring;
  slots.live = tables.live;
  slots.key = tables.key;
  return slots;
}

/// @brief Copy the ring of free CIDs, eight at a time; all lanes.
XIOKV_DEVICE void xiokv_copy_ring(const xiokv_slots &to,
                                  const xiokv_slots &from) {
  const xiokv_words *source =
      reinterpret_cast<const xiokv_words *>(from.free_ring);
  xiokv_words *target = reinterpret_cast<xiokv_words *>(to.free_ring);
  XIOKV_NO_UNROLL
  for (uint32_t i = xiokv_lane(); i * XIOKV_RING_CIDS < from.window;
       i += XIOKV_LANES)
    target[i] = source[i];
}
