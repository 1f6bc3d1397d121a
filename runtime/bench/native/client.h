// SPDX-License-Identifier: MIT
/// @file
/// @brief The plainest fast way to drive a queue pair from a CPU: what the
/// engine's speed is compared with.
///
/// It takes the batches that the engine takes, so that both work on the same
/// queues and memory. It fills what the ring holds, rings once, counts
/// completions and checks nothing: no status, no CID, no result, no deadline.
/// A CID is a place among the slots, and completions have to come in order.
/// Where it finds nothing, it gives the core up as often as the engine does.
#pragma once

#include <cstdint>

#include "xiokv/kv_abi.h"

namespace xiokv::bench {

/// @brief One queue's way through its share of a batch.
class Client {
public:
  Client(const xiokv_batch &batch, uint32_t number, uint8_t opcode);

  /// @brief Submit what fits, and count what has completed.
  /// @return Completions.
  uint32_t step();

  bool done() const { return next_ == end_ && in_flight_ == 0; }

  /// @brief The key whose command completes next.
  uint32_t oldest() const { return next_ - in_flight_; }

  /// @brief Leave the rings' state to the next batch.
  void save() const;

private:
  void submit();
  void fill(void *place) const;
  uint32_t collect();

  const xiokv_batch &batch_;
  xiokv_queue &stored_;
  xiokv_queue queue_;
  const uint8_t opcode_;
  const uint32_t limit_;
  uint32_t next_;
  uint32_t end_;
  uint32_t slot_ = 0;
  uint32_t in_flight_ = 0;
};

/// @brief What a client does that found nothing.
class Idle {
public:
  void wait();

private:
  uint32_t rounds_ = 0;
};

} // namespace xiokv::bench
