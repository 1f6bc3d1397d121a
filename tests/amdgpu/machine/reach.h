// SPDX-License-Identifier: MIT
/// @file
/// @brief What a run may reach: this process's memory, or ranges of it. An
/// address that is not mapped fails the run, and not the process.
#pragma once

#include <setjmp.h>
#include <stdint.h>

#include <vector>

#include "machine.h"

namespace amdgpu {

class Reach {
public:
  /// @brief All that the process can reach, until a range is added.
  void add(const amdgpu_range &range);

  /// @brief The memory at an address; throws Fault where it may not be reached.
  uint8_t *at(uint64_t address, uint64_t bytes);

private:
  bool inside(const amdgpu_range &range, uint64_t address, uint64_t bytes);
  void find(uint64_t address, uint64_t bytes);

  std::vector<amdgpu_range> ranges_; ///< By address.
  amdgpu_range last_ = {0, 0};       ///< Where the last access was.
};

/// @brief Where a thread goes on when it touches memory that is not mapped.
struct Guard {
  static thread_local sigjmp_buf place;
  static thread_local bool armed;
  static thread_local uint64_t address; ///< That was touched.

  /// @brief Take over the signals of memory that is not mapped; others go to
  /// whoever had them before. May be called often.
  static void install();
  [[noreturn]] static void fail();
};

/// @brief Run what touches memory. It must own nothing and throw nothing.
template <class Touch> void guarded(Touch touch) {
  if (sigsetjmp(Guard::place, 0) != 0)
    Guard::fail();
  Guard::armed = true;
  touch();
  Guard::armed = false;
}

} // namespace amdgpu
