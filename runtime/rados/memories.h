// SPDX-License-Identifier: MIT
/// @file
/// @brief Memory for values that are stored, which is used again.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <rados/librados.hpp>

namespace xiokv::rados {

/// @brief What librados sends bytes from as they are.
using Memory = ceph::buffer::ptr;

/// @brief Keeps the memory of large values: new memory costs a page fault a
/// page. Used by any thread.
class Memories : public std::enable_shared_from_this<Memories> {
public:
  ~Memories();

  /// @brief Memory of at least one byte that nobody else has.
  /// @throw std::bad_alloc There is none.
  std::shared_ptr<const Memory> take(uint32_t size);

private:
  using Bytes = std::unique_ptr<char[]>;
  /// A message may hold `last` for longer than the request did.
  struct Kept {
    Bytes bytes;
    uint32_t size;
    Memory last;
  };

  Kept take_kept(uint32_t size);
  void put(Kept kept);

  std::mutex mutex_;
  std::vector<Kept> kept_; ///< The one that was used last, last.
  uint64_t total_ = 0;     ///< Of their sizes.
};

} // namespace xiokv::rados
