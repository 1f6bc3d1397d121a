// SPDX-License-Identifier: MIT
#include "memories.h"

#include <algorithm>
#include <utility>

namespace xiokv::rados {

namespace {

/// Smaller ones come from the allocator, which keeps them itself.
constexpr uint32_t least = 64 << 10;

/// Bytes that are kept; more only while messages hold them.
constexpr uint64_t most_kept = 64 << 20;

bool is_free(const Memory &memory) { return memory.raw_nref() == 1; }

} // namespace

/// What a message still holds stays.
Memories::~Memories() {
  for (Kept &kept : kept_)
    if (!is_free(kept.last))
      static_cast<void>(kept.bytes.release());
}

std::shared_ptr<const Memory> Memories::take(uint32_t size) {
  if (size < least)
    return std::make_shared<Memory>(ceph::buffer::create(std::max(size, 1u)));
  auto kept = std::make_unique<Kept>(take_kept(size));
  // A buffer of its own each time: it remembers the checksum of its bytes.
  kept->last = Memory(ceph::buffer::create_static(size, kept->bytes.get()));
  const Memory *memory = &kept->last;
  return {memory,
          [from = shared_from_this(), held = kept.release()](const Memory *) {
            const std::unique_ptr<Kept> kept(held);
            from->put(std::move(*kept));
          }};
}

Memories::Kept Memories::take_kept(uint32_t size) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto fits = [size](const Kept &kept) {
    return size <= kept.size && kept.size / 2 <= size && is_free(kept.last);
  };
  const auto found = std::find_if(kept_.rbegin(), kept_.rend(), fits);
  if (found == kept_.rend())
    return {Bytes(new char[size]), size, {}};
  Kept kept = std::move(*found);
  kept_.erase(std::prev(found.base()));
  total_ -= kept.size;
  return kept;
}

void Memories::put(Kept kept) {
  const std::lock_guard<std::mutex> lock(mutex_);
  total_ += kept.size;
  kept_.push_back(std::move(kept));
  for (auto at = kept_.begin(); total_ > most_kept && at != kept_.end();) {
    if (is_free(at->last)) {
      total_ -= at->size;
      at = kept_.erase(at);
    } else {
      ++at;
    }
  }
}

} // namespace xiokv::rados
