// SPDX-License-Identifier: MIT
/// @file
/// @brief A value store in a Ceph cluster: one RADOS object a value.
///
/// Each request is one operation on one object, so that the cluster itself
/// decides what happens first, and whether a condition holds.
#pragma once

#include "adrift.h"
#include "cluster.h"
#include "flight.h"
#include "lister.h"
#include "memories.h"

namespace xiokv::rados {

class RadosStore : public emulator::ValueStore {
public:
  explicit RadosStore(const Place &place)
      : place_(place), cluster_(place_), lister_(cluster_) {}

  std::unique_ptr<emulator::Session> open(emulator::Wake wake) override;

  bool replies_later() const override { return true; }

  /// @brief Memory that the cluster's messages are sent from as it is.
  emulator::Room allocate(uint32_t size) const override;

  /// @brief Zeros: a cluster tells the usage of pools, not of namespaces.
  emulator::Usage usage() const override { return {}; }

  const Place &place() const { return place_; }
  Cluster &cluster() { return cluster_; }
  Lister &lister() { return lister_; }
  Adrift &adrift() { return adrift_; }

private:
  const Place place_;
  /// Before the cluster, whose messages are sent from it.
  const std::shared_ptr<Memories> memories_ = std::make_shared<Memories>();
  Cluster cluster_;
  Lister lister_;
  Adrift adrift_;
};

} // namespace xiokv::rados
