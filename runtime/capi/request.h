// SPDX-License-Identifier: MIT
/// @file
/// @brief A request of the caller, checked and packed: what of a batch does not
/// depend on where it runs.
#pragma once

#include <vector>

#include "xiokv.h"

namespace xiokv::host {

/// @brief What a context allows.
struct Rules {
  uint32_t key_max;
  uint64_t value_max;
  uint64_t transfer_max;
  xiokv_reserved fields; ///< Bits of the profile's fields in the command.
};

/// @brief Keys and the places of values, as the engine reads them.
struct Packed {
  std::vector<uint8_t> rows;     ///< 16 zero-padded bytes a key.
  std::vector<uint8_t> lengths;  ///< Of each key, or empty: all have `length`.
  std::vector<uint32_t> sizes;   ///< Of each value, or empty: all have `size`.
  std::vector<uint64_t> offsets; ///< Of each value, or empty: `stride`.
  uint64_t buffer = 0;
  uint64_t stride = 0;
  uint32_t length = 0;
  uint32_t size = 0;
  uint32_t count = 0;
  uint32_t options = 0;
  xiokv_reserved semantic = {};
};

/// @brief Check a request of Store, Retrieve, Exist or Delete, and take in all
/// that it points to, save the values; a Fault where it is not allowed.
Packed pack_request(uint32_t opcode, const xiokv_request &request,
                    const Rules &rules);

/// @brief Take in the one key at which a List begins, which may be empty, and
/// the memory for its page.
Packed pack_list(const xiokv_key &start, uint64_t page, uint32_t page_size,
                 const Rules &rules);

} // namespace xiokv::host
