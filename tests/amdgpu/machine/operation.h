// SPDX-License-Identifier: MIT
/// @file
/// @brief A memory instruction that has been issued, and of which not all may
/// have happened yet.
#pragma once

#include <stdint.h>

#include <array>
#include <unordered_map>
#include <vector>

#include "access.h"
#include "hierarchy.h"

namespace amdgpu {

struct Operation;

/// @brief What happens at once: of a load or a store, what lies in one aligned
/// dword; of an atomic, all of a lane.
struct Piece {
  uint64_t address; ///< Of its first byte.
  uint8_t bytes;
  uint8_t lane;
  uint8_t which; ///< Word of the lane's data.
  uint8_t first; ///< Byte of that word.
  bool done = false;

  /// @brief The aligned dword that it is in.
  uint64_t word() const { return address & ~uint64_t(3); }
  unsigned shift() const { return 8 * static_cast<unsigned>(address & 3); }
  /// @brief The bits of its bytes in that dword.
  uint32_t mask() const {
    return (bytes >= 4 ? ~0u : (1u << 8 * bytes) - 1) << shift();
  }
};

struct PieceOf {
  Operation *operation;
  uint32_t index;

  Piece &piece() const;
};

/// @brief The pieces that have not happened, of waves that see each other's
/// stores at once: of one wave, or of a group on one compute unit.
class Order {
public:
  void add(PieceOf piece);
  void remove(PieceOf piece);
  /// @brief Those on the same dwords of operations that were issued before a
  /// piece's own, whose lanes have no order.
  std::vector<PieceOf> before(PieceOf piece) const;

private:
  std::unordered_map<uint64_t, std::vector<PieceOf>> words_;
};

enum class Kind : uint8_t { load, store, atomic, scalar, write_back, mark };

struct Operation {
  Operation(Kind what, Wave &wave, const Instruction &instruction)
      : kind(what), access(wave, instruction) {}
  Operation(const Operation &) = delete;
  Operation &operator=(const Operation &) = delete;

  Kind kind;
  Access access;
  Order *order = nullptr;
  Path path = {};
  uint8_t counters = 0;       ///< Bits of those that still count it.
  bool returns = false;       ///< Into registers, which are poisoned till then.
  bool flushes = false;       ///< A write-back that has not happened.
  std::vector<Piece> pieces;  ///< Of memory.
  uint32_t left = 0;          ///< Of them, those that have not happened.
  uint64_t lds_lanes = 0;     ///< Who reaches LDS, and has not.
  uint64_t memory_lanes = 0;  ///< Who reaches memory.
  std::array<Lanes, 4> words; ///< What is stored; then what was loaded.

  bool performed() const { return left == 0 && lds_lanes == 0 && !flushes; }
  bool counted_by(Counter counter) const { return counters >> counter & 1; }

  /// @brief Take the data out of the registers, which may change now.
  void capture();
  /// @brief Split a part of a lane's access.
  void split(uint64_t address, unsigned lane, unsigned part);
};

inline Piece &PieceOf::piece() const { return operation->pieces[index]; }

} // namespace amdgpu
