// SPDX-License-Identifier: MIT
/// @file
/// @brief The second level cache of a device: what its own stores have reached
/// and memory has not, and copies of memory that may be stale.
#pragma once

#include <stdint.h>

#include <mutex>
#include <unordered_map>
#include <vector>

#include "cache.h"
#include "random.h"

namespace amdgpu {

/// @brief Memory of the process, by aligned dwords.
uint32_t peek(uint64_t address);
void poke(uint64_t address, uint32_t value, uint32_t mask);

class Level2 {
public:
  /// @brief The one of the device, which all runs of the process share.
  static Level2 &of_device();

  std::mutex mutex;
  /// @brief Copies, with the device's own stores in them.
  Cache copies;

  bool dirty() const { return !order_.empty(); }
  /// @brief A dword as the device has it: memory's, under its own stores.
  uint32_t read(uint64_t address) const;
  /// @brief Part of a dword is stored, and memory does not know yet.
  void write(uint64_t address, uint32_t value, uint32_t mask);
  /// @brief A dword goes to memory, if it is dirty.
  void write_back(uint64_t address);
  /// @brief Some dword goes to memory; there must be one.
  void write_back_any(Random &random);
  void write_back_all(Random &random);

private:
  struct Dirty {
    uint32_t value;
    uint32_t mask;
    size_t place; ///< In the order.
  };
  std::unordered_map<uint64_t, Dirty> words_;
  std::vector<uint64_t> order_; ///< The dirty words, so that any can be chosen.
};

} // namespace amdgpu
