// SPDX-License-Identifier: MIT
/// @file
/// @brief The counters of waves: which operations they count, and what ends
/// when a wave waits.
#pragma once

#include <stdint.h>

#include <memory>

#include "architecture.h"
#include "instruction.h"
#include "performer.h"
#include "random.h"

namespace amdgpu {

class Accounts {
public:
  Accounts(Family family, Performer &performer, Random &random)
      : family_(family), performer_(performer), random_(random) {}

  /// @brief An operation is issued: its counters count it, and its target is
  /// poison until a wait has ended it.
  void open(Lot &lot, std::unique_ptr<Operation> operation);

  /// @brief Whether a wait is for a load from memory of which dwords are still
  /// to come.
  bool is_under_way(const Lot &lot, const Wait &wait) const;

  /// @brief As many operations end as a wait asks for.
  void wait(Lot &lot, const Wait &wait);

  /// @brief Let go of operations that have happened and that no wait needs to
  /// count any more.
  void tidy(Lot &lot);

private:
  uint8_t counters_of(const Operation &operation) const;
  Counter store_counter() const;
  bool in_order(const Lot &lot, Counter counter) const;
  void end_one(Lot &lot, Counter counter);
  void change_poison(Lot &lot, const Operation &operation, uint8_t by,
                     int more);

  Family family_;
  Performer &performer_;
  Random &random_;
};

} // namespace amdgpu
