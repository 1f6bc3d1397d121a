// SPDX-License-Identifier: MIT
/// @file
/// @brief A key-value namespace of a real device, as a controller.
#pragma once

#include <memory>
#include <mutex>
#include <set>

#include "../nvme/controller.h"
#include "namespace.h"

namespace xiokv::host {

class NvmeDevice {
public:
  static constexpr const char *what = "device";
  static constexpr bool forks = false;

  /// @brief Open and identify it; a Fault where it is not key-value.
  NvmeDevice(const char *path, const xiokv_device_config &config);

  uint32_t nsid() const { return namespace_.nsid(); }
  xiokv_controller_limits limits(uint32_t nsid) const;
  xiokv_created create_queue(const xiokv_rings &rings);
  void delete_queue(uint32_t qid);
  void admin(const uint8_t *sqe, uint32_t data_size, uint8_t *cqe);
  xiokv_device_counters counters() const;

  /// @brief Take all queue pairs away, once their commands have ended.
  void reset();

  /// @brief The same, and end the threads and close the file; doorbells stay.
  void stop();

  bool in_use();

private:
  Namespace namespace_;
  const uint32_t queues_;
  std::unique_ptr<passthrough::Controller> controller_;
  xiokv_controller_limits limits_;

  std::mutex mutex_;         ///< Of the numbers.
  std::set<uint32_t> taken_; ///< Numbers of queue pairs.
  /// Numbers whose queue pair a reset took; their owners will delete it yet, so
  /// that they are given out again last.
  std::set<uint32_t> lost_;
};

} // namespace xiokv::host
