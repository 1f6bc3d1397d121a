// SPDX-License-Identifier: MIT
#include "prp.h"

#include <algorithm>

#include "bytes.h"
#include "config.h"

namespace xiokv::emulator {

namespace {

constexpr uint64_t entry_bytes = 8;

uint64_t offset_in_page(uint64_t iova) { return iova % page_bytes; }

/// Adds the next piece, as part of the last one where it follows on.
void add(std::vector<Segment> &segments, uint64_t iova, uint64_t bytes) {
  if (!segments.empty() && segments.back().iova + segments.back().bytes == iova)
    segments.back().bytes += bytes;
  else
    segments.push_back({iova, bytes});
}

/// Adds up to `count` pages from the entries read.
Status add_pages(const uint8_t *entries, uint64_t count, uint64_t &bytes,
                 std::vector<Segment> &segments) {
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t page = load<uint64_t>(entries + i * entry_bytes);
    if (offset_in_page(page) != 0)
      return Status::prp_offset_invalid;
    const uint64_t size = std::min<uint64_t>(bytes, page_bytes);
    add(segments, page, size);
    bytes -= size;
  }
  return Status::success;
}

/// Walks a list and those it chains to. A list ends at its page's boundary; the
/// last entry before it is a pointer to the next list if more pages remain.
Status walk_lists(const Dma &dma, uint64_t list, uint64_t bytes,
                  std::vector<Segment> &segments) {
  uint8_t entries[page_bytes];
  if (list % entry_bytes != 0)
    return Status::prp_offset_invalid;
  for (;;) {
    const uint64_t pages = (bytes + page_bytes - 1) / page_bytes;
    const uint64_t room = (page_bytes - offset_in_page(list)) / entry_bytes;
    const bool chained = pages > room;
    const uint64_t read = chained ? room : pages;
    if (!dma.read(list, entries, read * entry_bytes))
      return Status::data_transfer_error;
    const Status status =
        add_pages(entries, chained ? room - 1 : pages, bytes, segments);
    if (status != Status::success || !chained)
      return status;
    list = load<uint64_t>(entries + (room - 1) * entry_bytes);
    if (offset_in_page(list) != 0)
      return Status::prp_offset_invalid;
  }
}

} // namespace

Status walk_prp(const Dma &dma, uint64_t prp1, uint64_t prp2, uint64_t bytes,
                std::vector<Segment> &segments) {
  segments.clear();
  if (bytes == 0)
    return Status::success;
  if (prp1 % 4 != 0)
    return Status::prp_offset_invalid;
  const uint64_t first =
      std::min<uint64_t>(bytes, page_bytes - offset_in_page(prp1));
  add(segments, prp1, first);
  bytes -= first;
  if (bytes == 0)
    return Status::success;
  if (bytes > page_bytes)
    return walk_lists(dma, prp2, bytes, segments);
  if (offset_in_page(prp2) != 0)
    return Status::prp_offset_invalid;
  add(segments, prp2, bytes);
  return Status::success;
}

Status gather(const Dma &dma, const std::vector<Segment> &segments, uint8_t *to,
              uint64_t bytes) {
  for (const Segment &segment : segments) {
    const uint64_t size = std::min(segment.bytes, bytes);
    if (size == 0)
      break;
    if (!dma.read(segment.iova, to, size))
      return Status::data_transfer_error;
    to += size;
    bytes -= size;
  }
  return Status::success;
}

Status scatter(const Dma &dma, const std::vector<Segment> &segments,
               const uint8_t *from, uint64_t bytes) {
  for (const Segment &segment : segments) {
    const uint64_t size = std::min(segment.bytes, bytes);
    if (size == 0)
      break;
    if (!dma.write(segment.iova, from, size))
      return Status::data_transfer_error;
    from += size;
    bytes -= size;
  }
  return Status::success;
}

} // namespace xiokv::emulator
