// SPDX-License-Identifier: MIT
/// @file
/// @brief Lets issued operations happen, as late or as early as their order
/// allows.
#pragma once

#include <memory>
#include <vector>

#include "hierarchy.h"
#include "operation.h"
#include "poison.h"
#include "random.h"

namespace amdgpu {

/// @brief A wave's part of memory.
struct Lot {
  bool ended = false; ///< The wave has; what it stored is still on its way.
  Order *order = nullptr;
  Path path = {};
  Poison poison;
  /// In order of issue, until a wait has counted them off.
  std::vector<std::unique_ptr<Operation>> open;
};

class Performer {
public:
  Performer(Hierarchy &hierarchy, Level2 &level2, Random &random)
      : hierarchy_(hierarchy), level2_(level2), random_(random) {}

  /// @brief Operations that have not happened, or not all.
  size_t undone() const { return undone_; }
  /// @brief An operation is issued; the last one of its lot.
  void add(Operation &operation);
  /// @brief A load whose wave has ended will not happen.
  void drop(Operation &operation);

  void perform(Lot &lot, Operation &operation);
  /// @brief What of an operation reaches memory, and not LDS.
  void perform_memory(Lot &lot, Operation &operation);
  void perform_lds(Lot &lot, Operation &operation);
  /// @brief A part of an operation, as chance has it.
  void perform_some(Lot &lot, Operation &operation);

private:
  void piece(PieceOf which);
  void load(PieceOf which);
  void store(PieceOf which);
  void update(PieceOf which);
  void lds(Operation &operation);
  void flush(Lot &lot, Operation &operation);
  void note(const Operation &operation);

  Hierarchy &hierarchy_;
  Level2 &level2_;
  Random &random_;
  size_t undone_ = 0;
};

} // namespace amdgpu
