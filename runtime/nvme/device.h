// SPDX-License-Identifier: MIT
/// @file
/// @brief One command after the other, by the NVMe driver.
#pragma once

#include <atomic>
#include <vector>

#include "../emulator/prp.h"
#include "options.h"
#include "request.h"

namespace xiokv::passthrough {

/// @brief How a command ended.
struct Outcome {
  uint16_t status = 0; ///< A CQE's status, bits 15:1.
  uint64_t result = 0; ///< Its DW0, and DW1 above.
};

/// @brief The namespace's character device. Calls wait for their commands, and
/// may be made from many threads.
class Device {
public:
  explicit Device(const Options &config) : config_(config) {}

  /// @brief Carry out an I/O command whose data lies where its PRP entries say.
  Outcome run(const Sqe &sqe);

  /// @brief Carry out an admin command.
  /// @return 0 or an errno.
  int admin(const Sqe &sqe, void *data, uint32_t data_len, Outcome &outcome);

  uint64_t failures() const { return failures_; }
  int last_errno() const { return last_errno_; }

private:
  Outcome run_mapped(const Sqe &sqe);
  Outcome run_on(const Sqe &sqe, void *data, uint32_t data_len);
  Outcome run_copied(const Sqe &sqe,
                     const std::vector<emulator::Segment> &segments);
  int call(unsigned long number, nvme_passthru_cmd64 &request,
           Outcome &outcome);

  const Options config_;
  std::atomic<uint64_t> failures_{0};
  std::atomic<int> last_errno_{0};
};

} // namespace xiokv::passthrough
