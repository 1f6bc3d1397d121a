// SPDX-License-Identifier: MIT
/// @file
/// @brief What runs the workgroups of a launch, in turns with the controller.
#pragma once

#include <stdint.h>

#include <functional>
#include <string>

#include "xiokv/kv_abi.h"

/// @brief How long things take, in ticks of the engine's clock.
struct Pace {
  uint64_t patient;   ///< More than a healthy batch ever waits.
  uint64_t impatient; ///< Enough for a healthy controller.
  uint64_t batch;     ///< About what a batch takes.
  bool leaps;         ///< The clock can be put on.
};

/// @brief A machine for workgroups. The same seed gives the same run.
class Workgroups {
public:
  virtual ~Workgroups() = default;

  virtual const Pace &pace() const = 0;

  /// @brief Largest window whose tables lie in the workgroup's memory.
  virtual uint32_t shared_window() const = 0;

  /// @brief Run a command's kernel for all queues of a batch to the end; throws
  /// what derives from std::exception where a rule of the machine is broken.
  /// @param outside What happens outside, called again and again.
  virtual void run(const std::string &command, const xiokv_batch &batch,
                   uint64_t seed, const std::function<void()> &outside) = 0;

  /// @brief The clock of the batch that runs, or of the last one.
  virtual uint64_t now() const = 0;

  /// @brief Put the clock on, as if all had been stopped for so long.
  virtual void leap(uint64_t ticks) = 0;
};
