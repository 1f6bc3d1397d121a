// Copied by `xiokv-gen build` from the static templates of xiokv; do not edit.
// clang-format off
// SPDX-License-Identifier: MIT
/// @file
/// @brief PRP entries and chained PRP lists, built on the device.
///
/// A slot owns `prp_pages` list pages of the queue's pool, so that lists of
/// commands in flight never share a page. A list page holds 512 entries, the
/// last of which points to the next list page where more remain.
#pragma once

#include "xiokv/kv_abi.h"
#include "xiokv/kv_platform.h"

#define XIOKV_PRP_PER_PAGE (XIOKV_PAGE_BYTES / 8u)

/// @brief The two PRP fields of a command.
struct xiokv_prp {
  uint64_t prp1;
  uint64_t prp2;
};

/// @brief IOVA of byte `offset` of the batch's value buffer.
XIOKV_DEVICE uint64_t xiokv_iova(const xiokv_batch &batch, uint64_t offset) {
  if (batch.page_table == 0)
    return batch.iova + offset;
  const uint64_t *pages = reinterpret_cast<const uint64_t *>(batch.page_table);
  const uint64_t at = batch.page_offset + offset;
  return pages[at / XIOKV_PAGE_BYTES] + at % XIOKV_PAGE_BYTES;
}

/// @brief Write the PRP list of a slot.
/// @param pages Entries, at least 2; the caller has checked that they fit the
/// slot's share of the pool.
/// @param offset Byte of the value buffer where the first entry's page starts.
/// @return IOVA of the list.
XIOKV_DEVICE uint64_t xiokv_prp_list(const xiokv_queue &queue,
                                     const xiokv_batch &batch, uint32_t slot,
                                     uint32_t pages, uint64_t offset) {
  const uint32_t data = XIOKV_PRP_PER_PAGE - 1u;
  const uint32_t lists = (pages - 1u + data - 1u) / data;
  const uint64_t start =
      static_cast<uint64_t>(slot) * queue.prp_pages * XIOKV_PAGE_BYTES;
  uint64_t *list = reinterpret_cast<uint64_t *>(queue.prp_pool + start);
  uint64_t next = queue.prp_iova + start;
  for (uint32_t page = 0; page < lists; ++page, list += XIOKV_PRP_PER_PAGE) {
    const bool last = page + 1u == lists;
    const uint32_t count = last ? pages - page * data : data;
    for (uint32_t i = 0; i < count; ++i, offset += XIOKV_PAGE_BYTES)
      xiokv_store64(list + i, xiokv_iova(batch, offset));
    next += XIOKV_PAGE_BYTES;
    if (!last)
      xiokv_store64(list + data, next);
  }
  return queue.prp_iova + start;
}

/// @brief Describe `size` bytes at byte `offset` of the value buffer.
/// @param slot Whose list pages to use.
/// @param size At most the queue's max_transfer.
XIOKV_DEVICE xiokv_prp xiokv_build_prp(const xiokv_queue &queue,
                                       const xiokv_batch &batch, uint32_t slot,
                                       uint64_t offset, uint32_t size) {
  xiokv_prp prp = {0, 0};
  if (size == 0)
    return prp;
  prp.prp1 = xiokv_iova(batch, offset);
  const uint32_t first =
      XIOKV_PAGE_BYTES - static_cast<uint32_t>(prp.prp1 % XIOKV_PAGE_BYTES);
  if (size <= first)
    return prp;
  const uint32_t pages = (size - first - 1u) / XIOKV_PAGE_BYTES + 1u;
  if (pages == 1)
    prp.prp2 = xiokv_iova(batch, offset + first);
  else
    prp.prp2 = xiokv_prp_list(queue, batch, slot, pages, offset + first);
  return prp;
}
