// SPDX-License-Identifier: MIT
#include "memory.h"

#include <cstring>

#include <sys/mman.h>

#include "config.h"

namespace standin {
namespace {

constexpr int pattern = 0xA5;

using Guard = std::lock_guard<std::mutex>;

uint64_t value(const void *address) {
  return reinterpret_cast<uint64_t>(address);
}

void *map_bytes(size_t bytes) {
  void *made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(made != MAP_FAILED, hipErrorOutOfMemory);
  return std::memset(made, pattern, bytes);
}

} // namespace

void *Memory::allocate(Kind kind, int device, size_t bytes, unsigned flags) {
  const Guard guard(mutex_);
  const uint64_t limit =
      kind == Kind::device ? config().device_bytes : config().pinned_bytes;
  uint64_t &now_used = used(kind, device);
  require(bytes <= limit - now_used, hipErrorOutOfMemory);
  void *made = map_bytes(bytes);
  now_used += bytes;
  blocks_[value(made)] = Block{kind, device, value(made), bytes, flags};
  return made;
}

void Memory::free(Kind kind, const void *address, hipError_t error) {
  const Guard guard(mutex_);
  const auto block = blocks_.find(value(address));
  require(block != blocks_.end() && block->second.kind == kind, error);
  munmap(const_cast<void *>(address), block->second.bytes);
  used(kind, block->second.device) -= block->second.bytes;
  blocks_.erase(block);
}

void Memory::add(int device, const void *address, size_t bytes,
                 unsigned flags) {
  const Guard guard(mutex_);
  const uint64_t start = value(address);
  const auto next = blocks_.lower_bound(start);
  const bool inside = holding(start) != blocks_.end();
  const bool over = next != blocks_.end() && next->first - start < bytes;
  require(!inside && !over, hipErrorHostMemoryAlreadyRegistered);
  blocks_[start] = Block{Kind::registered, device, start, bytes, flags};
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

uint64_t &Memory::used(Kind kind, int device) {
  return kind == Kind::device ? device_used_[device] : pinned_used_;
}

} // namespace standin
