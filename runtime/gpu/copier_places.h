// SPDX-License-Identifier: MIT
/// @file
/// @brief Which memory is the device's: asked of the vendor once, and told by
/// those who know better.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <shared_mutex>

#include "copier.h"

namespace xiokv::gpu {

/// @brief What all threads know.
class Places {
public:
  explicit Places(const xiokv_copier_vendor &vendor) : vendor_(vendor) {}

  /// @brief Tell what a range is, whatever was known of it.
  void note(const xiokv_copier_range &range);
  void forget();

  /// @brief Look an address up, asking the vendor where it is not known.
  bool find(uint64_t address, xiokv_copier_range &range);

  /// @brief Another number whenever something known is known no longer.
  uint64_t edition() const { return edition_.load(std::memory_order_acquire); }

private:
  bool look_up(uint64_t address, xiokv_copier_range &range) const;
  void insert(const xiokv_copier_range &range);

  const xiokv_copier_vendor vendor_;
  mutable std::shared_mutex mutex_;
  std::map<uint64_t, xiokv_copier_range> ranges_; ///< By the first address.
  std::atomic<uint64_t> edition_{0};
};

/// @brief What one thread looked up lately.
class RecentPlaces {
public:
  explicit RecentPlaces(Places &places) : places_(places) {}

  /// @brief Return the range of an address, or NULL where the vendor fails.
  const xiokv_copier_range *find(uint64_t address);

private:
  Places &places_;
  std::array<xiokv_copier_range, 4> ranges_ = {};
  uint64_t edition_ = 0;
  uint32_t next_ = 0; ///< The one to be replaced.
};

} // namespace xiokv::gpu
