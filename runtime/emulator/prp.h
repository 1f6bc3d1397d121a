// SPDX-License-Identifier: MIT
/// @file
/// @brief From a command's PRP entries to the pieces of memory they describe.
#pragma once

#include <cstdint>
#include <vector>

#include "dma.h"
#include "status.h"

namespace xiokv::emulator {

/// @brief A run of bytes at an IOVA.
struct Segment {
  uint64_t iova;
  uint64_t bytes;
};

/// @brief Walk PRP1, PRP2 and the lists they lead to.
/// @param bytes Transfer size; 0 needs no entry at all.
/// @param segments Filled with the pieces in order, neighbours joined; their
/// bytes sum up to `bytes`.
Status walk_prp(const Dma &dma, uint64_t prp1, uint64_t prp2, uint64_t bytes,
                std::vector<Segment> &segments);

/// @brief Copy the first `bytes` of the host's segments to `to`.
Status gather(const Dma &dma, const std::vector<Segment> &segments, uint8_t *to,
              uint64_t bytes);

/// @brief Copy the first `bytes` at `from` to the host's segments.
Status scatter(const Dma &dma, const std::vector<Segment> &segments,
               const uint8_t *from, uint64_t bytes);

} // namespace xiokv::emulator
