// SPDX-License-Identifier: MIT
#include "sizes.h"

#include <algorithm>
#include <cinttypes>

#include "fault.h"

namespace xiokv::host {

namespace {

constexpr uint32_t ring_depth_max = 65536, ring_depth_usual = 1024;
constexpr uint32_t window_usual = 1023;
constexpr uint64_t pool_max = 256u << 20;
constexpr uint64_t u32_max = UINT32_MAX;
constexpr uint64_t list_entries = XIOKV_PAGE_BYTES / 8;
// The last entry of a list page that is not the last one points to the next.
constexpr uint64_t data_entries = list_entries - 1;

void check_within(const char *name, uint64_t value, uint64_t least,
                  uint64_t most, const char *why = "") {
  if (value < least || value > most)
    refuse(XIOKV_E_ARGUMENT,
           "%s %" PRIu64 ": %" PRIu64 " to %" PRIu64 " is allowed%s", name,
           value, least, most, why);
}

uint64_t round_up(uint64_t value, uint64_t step) {
  return (value + step - 1) / step;
}

/// List pages that some bytes need, wherever in a page they begin.
uint32_t list_pages(uint64_t size) {
  const uint64_t after_first = round_up(size - 1, XIOKV_PAGE_BYTES);
  // One page after the first goes into PRP2 itself.
  return after_first <= 1
             ? 0
             : static_cast<uint32_t>(round_up(after_first - 1, data_entries));
}

uint32_t transfer_size(uint64_t asked, uint32_t window,
                       const xiokv_controller_limits &limits) {
  const uint64_t most = std::min(
      limits.transfer_max != 0 ? limits.transfer_max : u32_max, u32_max);
  if (asked != 0) {
    check_within("max_transfer", asked, 1, most, " (the controller's MDTS)");
    return static_cast<uint32_t>(asked);
  }
  const uint64_t lists = pool_max / (uint64_t{window} * XIOKV_PAGE_BYTES);
  const uint64_t pooled = (lists * data_entries + 1) * XIOKV_PAGE_BYTES;
  // A List page may be larger than any value.
  const uint64_t needed =
      std::max<uint64_t>(limits.value_max, XIOKV_PAGE_BYTES);
  return static_cast<uint32_t>(std::min({most, pooled, needed}));
}

uint32_t usual(uint32_t asked, uint32_t otherwise) {
  return asked != 0 ? asked : otherwise;
}

} // namespace

Sizes plan_sizes(const xiokv_attach_config &config,
                 const xiokv_controller_limits &limits) {
  if (limits.page_bytes != XIOKV_PAGE_BYTES)
    refuse(XIOKV_E_CONTROLLER,
           "the controller runs with pages of %u bytes; only %u are supported "
           "(CC.MPS = 0)",
           limits.page_bytes, XIOKV_PAGE_BYTES);
  const uint32_t deepest = std::min(ring_depth_max, limits.entries_max);
  Sizes sizes = {};
  sizes.nsid = usual(config.nsid, 1);
  sizes.queues = usual(config.queues, 1);
  sizes.depth = usual(config.depth, std::min(ring_depth_usual, deepest));
  check_within("nsid", sizes.nsid, 1, u32_max - 1);
  check_within("queues", sizes.queues, 1, limits.queues_max,
               " (what the controller has)");
  check_within("depth", sizes.depth, 2, deepest,
               deepest < ring_depth_max ? " (the controller's MQES)" : "");
  sizes.window = usual(config.window, std::min(window_usual, sizes.depth - 1));
  check_within("window", sizes.window, 1, XIOKV_WINDOW_MAX);
  sizes.max_transfer = transfer_size(config.max_transfer, sizes.window, limits);
  sizes.prp_pages = list_pages(sizes.max_transfer);
  sizes.max_value =
      static_cast<uint32_t>(std::min<uint64_t>(limits.value_max, u32_max));
  return sizes;
}

} // namespace xiokv::host
