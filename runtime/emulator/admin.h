// SPDX-License-Identifier: MIT
/// @file
/// @brief Admin commands: Identify, queues, features.
#pragma once

#include "commands.h"
#include "queue_table.h"

namespace xiokv::emulator {

class Admin {
public:
  Admin(Namespace &space, QueueTable &queues)
      : space_(space), queues_(queues) {}

  /// @brief Carry out one command.
  Outcome run(const Sqe &sqe);

private:
  Outcome identify(const Sqe &sqe);
  Outcome set_features(const Sqe &sqe);
  Outcome get_features(const Sqe &sqe);
  Status create_cq(const Sqe &sqe);
  Status create_sq(const Sqe &sqe);
  Status check_ring(const Sqe &sqe) const;
  uint32_t queue_counts() const;

  Namespace &space_;
  QueueTable &queues_;
};

} // namespace xiokv::emulator
