// SPDX-License-Identifier: MIT
#include "memory.h"

#include <algorithm>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "config.h"

namespace standin {
namespace {

constexpr int pattern = 0xA5;
// Filling all of a large block would take longer than what is done with it.
constexpr size_t filled_most = 1 << 16;

using Guard = std::lock_guard<std::mutex>;

uint64_t value(const void *address) {
  return reinterpret_cast<uint64_t>(address);
}

uint64_t map_bytes(size_t bytes, int sharing, int file) {
  void *made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, sharing, file, 0);
  require(made != MAP_FAILED, hipErrorOutOfMemory);
  return value(made);
}

/// Return a new block, at its address on the host if it has one.
Block make(Kind kind, int device, size_t bytes, unsigned flags) {
  Block made{kind, device, 0, 0, 0, bytes, flags};
  if (kind == Kind::pinned && config().two_addresses) {
    const int file = memfd_create("page-locked", 0);
    require(file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0,
            hipErrorOutOfMemory);
    made.on_host = map_bytes(bytes, MAP_SHARED, file);
    made.on_device = map_bytes(bytes, MAP_SHARED, file);
    close(file);
  } else {
    made.on_device = map_bytes(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    made.on_host = kind == Kind::pinned ? made.on_device : 0;
  }
  made.address = kind == Kind::pinned ? made.on_host : made.on_device;
  std::memset(reinterpret_cast<void *>(made.address), pattern,
              std::min(bytes, filled_most));
  return made;
}

} // namespace

void *Memory::allocate(Kind kind, int device, size_t bytes, unsigned flags) {
  const Guard guard(mutex_);
  const uint64_t limit =
      kind == Kind::device ? config().device_bytes : config().pinned_bytes;
  uint64_t &now_used = used(kind, device);
  require(bytes <= limit - now_used, hipErrorOutOfMemory);
  const Block made = make(kind, device, bytes, flags);
  now_used += bytes;
  put(made, made.address);
  put(made, made.on_device);
  return reinterpret_cast<void *>(made.address);
}

void Memory::free(Kind kind, const void *address, hipError_t error) {
  const Guard guard(mutex_);
  const auto found = blocks_.find(value(address));
  require(found != blocks_.end() && found->second.kind == kind, error);
  const Block block = found->second;
  require(kind == Kind::device || block.on_host == value(address), error);
  used(kind, block.device) -= block.bytes;
  drop(value(address));
  drop(block.on_device);
}

void Memory::add(int device, const void *address, size_t bytes,
                 unsigned flags) {
  const Guard guard(mutex_);
  const uint64_t start = value(address);
  const auto next = blocks_.lower_bound(start);
  const bool inside = holding(start) != blocks_.end();
  const bool over = next != blocks_.end() && next->first - start < bytes;
  require(!inside && !over, hipErrorHostMemoryAlreadyRegistered);
  put({Kind::registered, device, 0, start, start, bytes, flags}, start);
}

void Memory::remove(const void *address) {
  const Guard guard(mutex_);
  const auto block = blocks_.find(value(address));
  require(block != blocks_.end() && block->second.kind == Kind::registered,
          hipErrorHostMemoryNotRegistered);
  blocks_.erase(block);
}

std::optional<Block> Memory::find(const void *address) const {
  const Guard guard(mutex_);
  const auto block = holding(value(address));
  if (block == blocks_.end())
    return std::nullopt;
  return block->second;
}

void Memory::check(const void *address, size_t bytes) const {
  const std::optional<Block> block = find(address);
  require(!block || bytes <= block->address + block->bytes - value(address),
          hipErrorInvalidValue);
}

std::vector<Block> Memory::all() const {
  const Guard guard(mutex_);
  std::vector<Block> blocks;
  for (const auto &entry : blocks_)
    blocks.push_back(entry.second);
  return blocks;
}

Memory::Blocks::const_iterator Memory::holding(uint64_t address) const {
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin())
    return blocks_.end();
  const auto block = std::prev(after);
  return address - block->first < block->second.bytes ? block : blocks_.end();
}

void Memory::put(Block block, uint64_t address) {
  block.address = address;
  blocks_[address] = block;
}

/// Unmap a block and forget it, unless that was done under this address.
void Memory::drop(uint64_t address) {
  const auto block = blocks_.find(address);
  if (block == blocks_.end())
    return;
  munmap(reinterpret_cast<void *>(address), block->second.bytes);
  blocks_.erase(block);
}

uint64_t &Memory::used(Kind kind, int device) {
  return kind == Kind::device ? device_used_[device] : pinned_used_;
}

} // namespace standin
