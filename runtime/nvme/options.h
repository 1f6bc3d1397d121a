// SPDX-License-Identifier: MIT
/// @file
/// @brief What a controller in front of NVME_IOCTL_IO64_CMD is made of.
///
/// A thread follows the doorbells and hands entries to others, each of which
/// waits for one command at a time; completions come as commands end.
/// Addresses in entries are those of this process.
#pragma once

#include <cstdint>

namespace xiokv::passthrough {

/// @brief Threads at most: commands in flight at the device.
constexpr uint32_t threads_max = 1024;

/// @brief Queue pairs at most.
constexpr uint32_t queues_max = 1024;

/// @brief As ioctl(2): what is tested in its place.
using Ioctl = int (*)(int fd, unsigned long request, void *argument);

/// @brief How a controller works.
struct Options {
  int fd;              ///< The namespace's character device; stays open.
  uint32_t nsid;       ///< Its NSID there. Entries may also name 1.
  uint32_t threads;    ///< 1 to threads_max.
  uint32_t queues;     ///< Queue pairs, 1 to queues_max.
  uint32_t timeout_ms; ///< Of each command; 0: the driver's own.
  Ioctl ioctl;         ///< Null: ioctl(2).
};

/// @brief Totals since the controller was made.
struct Counters {
  uint64_t commands;    ///< Entries fetched.
  uint64_t completions; ///< Completions posted.
  uint64_t failures;    ///< Calls that the system refused.
  int32_t last_errno;   ///< Of the last of them, or 0.
};

/// @brief A queue pair to create, in zeroed memory.
struct Made {
  uint64_t sq; ///< Address of the submission ring.
  uint64_t cq; ///< Address of the completion ring.
  uint32_t qid;
  uint32_t sq_depth; ///< 2 to 65536.
  uint32_t cq_depth; ///< 2 to 65536.
};

} // namespace xiokv::passthrough
