// SPDX-License-Identifier: MIT
/// @file
/// @brief Sizes of a queue pair: what was asked for and what a controller
/// allows in, numbers out.
///
/// The PRP pool gives every command slot the list pages of the largest
/// transfer, so that lists of commands in flight never share a page. Its memory
/// is touched only where a command needs it.
#pragma once

#include "xiokv.h"

namespace xiokv::host {

/// @brief Sizes of every queue pair of a context.
struct Sizes {
  uint32_t nsid;
  uint32_t queues;
  uint32_t depth;        ///< Entries of both rings.
  uint32_t window;       ///< Command slots.
  uint32_t prp_pages;    ///< PRP list pages a slot.
  uint32_t max_transfer; ///< Largest buffer of one command.
  uint32_t max_value;    ///< Largest value of the namespace.

  uint64_t pool_bytes() const {
    return uint64_t{window} * prp_pages * XIOKV_PAGE_BYTES;
  }
};

/// @brief The sizes for a configuration; a Fault where it is not allowed.
Sizes plan_sizes(const xiokv_attach_config &config,
                 const xiokv_controller_limits &limits);

} // namespace xiokv::host
