// SPDX-License-Identifier: MIT
/// @file
/// @brief The CPU's side of the copier: the kernel's launches, and a channel
/// with the copies that threads want of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "copier.h"
#include "copier_places.h"
#include "copier_ring.h"

namespace xiokv::gpu {

/// @brief Where things lie in page-locked memory.
class Layout {
public:
  Layout(uint32_t slots, uint32_t groups);

  uint64_t bytes(uint32_t channels) const {
    return channels_ + channels * channel_bytes_;
  }
  /// @brief Fill in what a launch says of places.
  void describe(uint64_t device_memory, xiokv_copier_launch &launch) const;

  uint8_t *channel(void *memory, uint32_t number) const {
    return static_cast<uint8_t *>(memory) + channels_ + number * channel_bytes_;
  }
  uint64_t done() const { return done_; }
  uint64_t progress() const { return progress_; }
  uint64_t pieces() const { return pieces_; }

private:
  uint64_t channels_;
  uint64_t done_;
  uint64_t progress_;
  uint64_t pieces_;
  uint64_t channel_bytes_;
};

/// @brief The kernel, which is launched when it is missed.
class Kernel {
public:
  Kernel(const xiokv_copier_config &config, const xiokv_copier_vendor &vendor);

  const xiokv_copier_config &config() const { return config_; }
  const xiokv_copier_vendor &vendor() const { return vendor_; }
  const Layout &layout() const { return layout_; }

  /// @brief The latest launch.
  uint32_t launches() const {
    return launches_.load(std::memory_order_acquire);
  }

  /// @brief Launch anew, unless there was a launch since `seen`. In the stream
  /// it follows the one before, so that no workgroup is there twice.
  bool restart(uint32_t seen);

  /// @brief Be there for copies that begin now: launch anew where the lease is
  /// over, or is so soon.
  void attend();

  /// @brief The same for copies that are expected, unless those expected last
  /// have not come.
  void wake();

  /// @brief Let the kernel end and all copies fail; `stop` also waits for a
  /// launch that is being made.
  void stop();
  void fail();
  bool has_failed() const { return failed_.load(std::memory_order_relaxed); }

private:
  /// @brief Whether the lease is over soon, and no launch follows the latest.
  bool is_due(uint32_t latest) const;
  int64_t term() const { return static_cast<int64_t>(config_.term); }

  const xiokv_copier_config config_;
  const xiokv_copier_vendor vendor_;
  const Layout layout_;
  uint64_t *const stop_;
  std::mutex mutex_;                ///< Held while launching.
  std::atomic<int64_t> end_{0};     ///< When all leases are over, about.
  std::atomic<uint32_t> needed_{0}; ///< The latest launch that copies were for.
  std::atomic<uint32_t> launches_{0};
  std::atomic<bool> failed_{false};
};

/// @brief A ring of copies and those who want them.
class alignas(64) Channel {
public:
  Channel(Kernel &kernel, Places &places, uint32_t number);

  bool read(uint64_t address, void *buffer, uint64_t bytes);
  bool write(uint64_t address, const void *buffer, uint64_t bytes);
  bool flush();

private:
  /// @brief Call `near` and `far` on each part of a range of addresses.
  template <class Near, class Far>
  bool for_each_part(uint64_t address, uint64_t bytes, Near near, Far far);
  bool read_device(uint64_t address, uint8_t *buffer, uint64_t bytes);
  bool write_device(uint64_t address, const uint8_t *buffer, uint64_t bytes);

  /// @brief Where a copy's data lies in its piece.
  uint8_t *piece(uint32_t number, uint64_t address) const;
  uint32_t slot(uint32_t number) const { return (number - 1) & (slots_ - 1); }
  /// @brief Wait until the slot of the next copy is free.
  bool await_slot();
  void push(uint64_t address, uint32_t bytes, uint32_t direction);
  bool is_done(uint32_t number) const;
  /// @brief Wait for all copies up to a number.
  bool await(uint32_t number);
  bool await_next();
  bool keep_running(uint32_t number);

  Kernel &kernel_;
  const uint32_t slots_;
  xiokv_copy *const copies_;
  const uint32_t *const done_;
  xiokv_copier_progress *const progress_;
  uint8_t *const pieces_;

  std::mutex mutex_;
  RecentPlaces places_;
  uint32_t pushed_ = 0; ///< Number of the latest copy.
  uint32_t landed_ = 0; ///< All copies up to this number are done.
};

} // namespace xiokv::gpu
