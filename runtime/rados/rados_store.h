// SPDX-License-Identifier: MIT
/// @file
/// @brief A value store in a Ceph cluster: one RADOS object a value.
///
/// Each request is one operation on one object, so that the cluster itself
/// decides what happens first, and whether a condition holds.
#pragma once

#include <algorithm>
#include <atomic>

#include "adrift.h"
#include "cluster.h"
#include "flight.h"
#include "lending.h"
#include "lister.h"
#include "memories.h"

namespace xiokv::rados {

class RadosStore : public emulator::ValueStore {
public:
  explicit RadosStore(const Place &place)
      : place_(place), cluster_(place_), lister_(cluster_, place_.timeout) {}

  std::unique_ptr<emulator::Session> open(emulator::Wake wake) override;

  /// @brief An eighth of what operations took of late, within bounds: it
  /// gathers replies, and delays one by half of that.
  std::chrono::microseconds nap() const override {
    using std::chrono::microseconds;
    if (in_flight_.load(std::memory_order_relaxed) == 0)
      return {};
    return microseconds(std::clamp<int64_t>(latency_ / 8, 20, 200));
  }

  /// @brief Note what an operation took; of two at once, one may count.
  void took(std::chrono::microseconds time) {
    const int64_t latency = latency_.load(std::memory_order_relaxed);
    latency_.store(latency + (time.count() - latency) / 16,
                   std::memory_order_relaxed);
  }

  /// @brief Note that so many operations more are under way, or fewer.
  void add_flights(int32_t more) {
    in_flight_.fetch_add(static_cast<uint32_t>(more),
                         std::memory_order_relaxed);
  }

  /// @brief Memory that the cluster's messages are sent from as it is.
  emulator::Room allocate(uint32_t size) const override;

  bool lend(uint8_t *memory, uint64_t bytes) override {
    return lending_.add(memory, bytes);
  }
  void take_back(uint8_t *memory) override { lending_.remove(memory); }
  emulator::Blob borrow(const uint8_t *bytes, uint32_t size) override;

  /// @brief A Store has ended: messages read the host's memory no more.
  /// @param failed Whether its message may wait for long.
  void end_store(std::shared_ptr<const Memory> value, bool failed);

  uint32_t value_max() const override { return cluster_.value_max(); }

  /// @brief Zeros: a cluster tells the usage of pools, not of namespaces.
  emulator::Usage usage() const override { return {}; }

  const Place &place() const { return place_; }
  Cluster &cluster() { return cluster_; }
  Lister &lister() { return lister_; }

  /// @brief Whether so many values of Stores that failed wait in messages that
  /// no more is to be sent.
  bool is_adrift() { return adrift_.is_full(); }

private:
  const Place place_;
  /// Before the cluster, whose messages are sent from it.
  const std::shared_ptr<Memories> memories_ = std::make_shared<Memories>();
  Lending lending_;
  Cluster cluster_;
  Lister lister_;
  Adrift adrift_;
  std::atomic<uint32_t> in_flight_{0};
  std::atomic<int64_t> latency_{0}; ///< Microseconds.
};

} // namespace xiokv::rados
