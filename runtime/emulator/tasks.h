// SPDX-License-Identifier: MIT
/// @file
/// @brief Commands on their way through a queue, and the memory that they use
/// in turn.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "commands.h"
#include "faults.h"

namespace xiokv::emulator {

/// @brief A command that was fetched and is not over.
struct Task {
  Command command;
  Verdict verdict;
};

/// @brief The tasks of one queue. Each stays where it is; one that is over is
/// used again, with the memory that its command has got by then.
class Tasks {
public:
  /// @brief A task whose entry is still to be filled in.
  Task &take() {
    if (free_.empty())
      return all_.emplace_back();
    Task &task = *free_.back();
    free_.pop_back();
    return task;
  }

  void give_back(Task &task) {
    task.command.clear();
    task.verdict = {};
    free_.push_back(&task);
  }

private:
  std::deque<Task> all_;
  std::vector<Task *> free_;
};

} // namespace xiokv::emulator
