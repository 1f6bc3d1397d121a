// SPDX-License-Identifier: MIT
/// @file
/// @brief The faults of one queue: which command is struck, and how.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "command.h"
#include "emulator.h"
#include "random.h"

namespace xiokv::emulator {

/// @brief The structure; the plain name is a function's.
using Fault = struct ::xiokv_emu_fault;

/// @brief Whether every member of a fault is allowed.
bool is_allowed(const Fault &fault);

/// @brief What faults do to one command.
struct Verdict {
  bool drop = false;
  uint64_t delay = 0;
  std::optional<uint64_t> stall;           ///< Units; 0: until cleared.
  std::optional<uint64_t> duplicate_after; ///< Units.
  std::optional<uint16_t> status;
  std::optional<uint16_t> unknown_cid;
  std::optional<uint16_t> foreign_sqid;
  std::optional<uint32_t> size; ///< Retrieve's or Exec's DW0.
};

class Faults {
public:
  Faults(const Config &config, uint32_t qid)
      : value_max_(config.value_max), qid_(qid), strikes_(config.seed, 2 * qid),
        order_(config.seed, 2 * qid + 1) {}

  /// @brief Take a fault over, unless it is another queue's.
  void add(const Fault &fault);
  void clear();

  /// @brief Whether nothing strikes this queue.
  bool none() const { return active_.empty() && window_ == 0; }

  /// @brief Decide about the command, counting it.
  /// @param key Its key, wherever it is.
  Verdict judge(const Sqe &sqe, const Key &key);

  /// @brief Whether one of `ready` completions may leave.
  /// @param more Whether more of them are on their way.
  bool may_leave(size_t ready, bool more) const {
    return !more || ready >= window_ || group_ != 0;
  }

  /// @brief Which of `ready` completions, oldest first, leaves next; at least
  /// one is there.
  size_t pick(size_t ready);

private:
  struct Active {
    Fault fault;
    uint64_t seen = 0;
    uint64_t struck = 0;
  };

  bool strikes(Active &active, const Sqe &sqe, const Key &key);
  void apply(const Fault &fault, Verdict &verdict) const;

  const uint32_t value_max_;
  const uint32_t qid_;
  Random strikes_; ///< Drawn once a command: how threads take turns is no part.
  Random order_;
  std::vector<Active> active_;
  uint64_t window_ = 0;
  bool reverse_ = false;
  size_t group_ = 0; ///< Completions of the present group still to leave.
};

} // namespace xiokv::emulator
