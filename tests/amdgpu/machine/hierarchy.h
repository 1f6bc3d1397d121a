// SPDX-License-Identifier: MIT
/// @file
/// @brief The caches between a wave and memory: a near one, of its compute
/// unit, and a far one, of a part of the device or all of it.
#pragma once

#include <stdint.h>

#include <map>
#include <memory>

#include "architecture.h"
#include "cache.h"
#include "instruction.h"
#include "level2.h"
#include "random.h"

namespace amdgpu {

/// @brief The caches that a wave's accesses go through.
struct Path {
  Cache *near;
  Cache *far;
  bool group_shares_near; ///< All waves of the group have the same near one.
};

/// @brief Aligned dwords of memory, as a device's waves read and write them.
class Hierarchy {
public:
  Hierarchy(Family family, Level2 &level2, Random &random)
      : family_(family), level2_(level2), random_(random) {}

  /// @brief The path of a wave's accesses.
  /// @param is_spread The group's waves lie on two compute units.
  Path path(uint32_t group, uint32_t wave, bool is_spread);

  uint32_t read(const Path &path, uint64_t address, Scope scope);
  void write(const Path &path, uint64_t address, uint32_t value, uint32_t mask,
             Scope scope);
  /// @brief Read and write a dword or a pair at once; returns what was there.
  uint64_t update(const Path &path, uint64_t address, unsigned bytes,
                  Scope scope, Atomic atomic, uint64_t value,
                  uint64_t compared);

private:
  bool keeps_stores() const { return family_ != Family::rdna3; }
  uint32_t read_device(uint64_t address);
  uint32_t through(Cache &cache, uint64_t address, Cache *next);
  Cache::Line fetch(uint64_t address, Cache *next);

  Family family_;
  Level2 &level2_;
  Random &random_;
  std::map<std::pair<uint32_t, uint32_t>, Cache> near_;
  std::map<uint32_t, Cache> far_;
};

} // namespace amdgpu
