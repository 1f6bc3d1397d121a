// SPDX-License-Identifier: MIT
/// @file
/// @brief Memory as the device sees it: which addresses it may use, and whose
/// they are.
///
/// All of it is memory of this process; what sets the kinds apart is what is
/// noted here. New memory begins with a pattern, as nobody may rely on
/// zeroes.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "call.h"

namespace standin {

enum class Kind {
  device,     ///< hipMalloc
  pinned,     ///< hipHostMalloc
  registered, ///< hipHostRegister: the caller's own
};

/// @brief Contiguous bytes that the device may use, at one of their addresses.
struct Block {
  Kind kind;
  int device;
  uint64_t address;
  uint64_t on_host;   ///< the same bytes' address for the host; 0: none
  uint64_t on_device; ///< the same bytes' address for kernels
  uint64_t bytes;
  unsigned flags; ///< as given when it was made
};

/// @brief All blocks of the process.
class Memory {
public:
  /// @brief Make a block of device or page-locked memory; return its address,
  /// on the host where it has two.
  void *allocate(Kind kind, int device, size_t bytes, unsigned flags);

  /// @brief Free a block that `allocate` made.
  /// @param error What to fail with where no such block begins here.
  void free(Kind kind, const void *address, hipError_t error);

  /// @brief Take in memory of the caller's.
  void add(int device, const void *address, size_t bytes, unsigned flags);

  /// @brief Forget memory of the caller's.
  void remove(const void *address);

  /// @brief Return the block that holds an address.
  std::optional<Block> find(const void *address) const;

  /// @brief Fail where bytes begin in a block and end outside.
  void check(const void *address, size_t bytes) const;

  /// @brief Return every block. One with two addresses is there twice.
  std::vector<Block> all() const;

private:
  using Blocks = std::map<uint64_t, Block>;

  Blocks::const_iterator holding(uint64_t address) const;
  void put(Block block, uint64_t address);
  void drop(uint64_t address);
  uint64_t &used(Kind kind, int device);

  mutable std::mutex mutex_;
  Blocks blocks_; ///< by address; they do not overlap
  std::map<int, uint64_t> device_used_;
  uint64_t pinned_used_ = 0;
};

} // namespace standin
