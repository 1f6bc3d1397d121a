// SPDX-License-Identifier: MIT
/// @file
/// @brief Memory of the host that values are sent from where they lie.
///
/// A message that was handed to a connection cannot be taken back, and may be
/// read for longer than its command lasts. So messages are sent from a mapping
/// of its own of the host's pages. Where a command ends while a message still
/// holds its value, that mapping gets a copy of the pages, before the host is
/// told: from then on the host may do as it likes.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "memories.h"

namespace xiokv::rados {

/// @brief Used by any thread.
class Lending {
public:
  Lending();
  ~Lending();

  /// @brief Take memory of a shared mapping, which begins on a page's boundary.
  /// @return Whether that is possible; of private pages there is no second
  /// mapping.
  bool add(uint8_t *memory, uint64_t bytes);

  /// @brief Give memory back, of which no command is under way; what was not
  /// taken is nothing.
  void remove(uint8_t *memory);

  /// @brief A value as a message is to send it; null where it lies elsewhere,
  /// is too small to be worth it, where a message of an earlier command still
  /// holds some of its pages, or where thousands are lent.
  std::shared_ptr<const Memory> lend(const uint8_t *bytes, uint32_t size);

  /// @brief The value's command has ended: let the host's memory go. Nothing
  /// for a value that lies elsewhere. Waits where there is no room for a copy,
  /// until there is, or no message holds the value.
  void part(const std::shared_ptr<const Memory> &value);

private:
  class Region;
  using Regions = std::map<uintptr_t, std::unique_ptr<Region>>;

  Regions::iterator region_of(uintptr_t host);
  void leave(Regions::iterator region);
  bool try_part(const std::shared_ptr<const Memory> &value);
  void put_back();

  std::atomic<uint64_t> lent_{0}; ///< Values, of all regions.
  std::mutex mutex_;      ///< Held for what follows and for all regions.
  bool any_held_ = false; ///< A region may have copies to put back.
  Regions regions_;       ///< By where the host's memory begins.
  /// The host's memory is gone, and something of them still lent or held.
  std::vector<std::unique_ptr<Region>> leaving_;
};

} // namespace xiokv::rados
