// SPDX-License-Identifier: MIT
#include "hierarchy.h"

#include "access.h"
#include "reach.h"

namespace amdgpu {

namespace {

/// Parts of a gfx11 device, each with a far cache.
constexpr uint32_t device_parts = 2;
/// One of so many hits finds that the copy is gone, and makes another.
constexpr uint64_t hits_to_eviction = 8;

template <class T>
T update_memory(uint64_t address, Atomic atomic, T value, T compared) {
  T old = 0;
  guarded([&] {
    T *to = reinterpret_cast<T *>(address);
    old = __atomic_load_n(to, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(
        to, &old, combine(atomic, old, value, compared), true, __ATOMIC_SEQ_CST,
        __ATOMIC_RELAXED)) {
    }
  });
  return old;
}

uint64_t combined(unsigned bytes, Atomic atomic, uint64_t old, uint64_t value,
                  uint64_t compared) {
  return bytes == 8 ? combine(atomic, old, value, compared)
                    : combine(atomic, static_cast<uint32_t>(old),
                              static_cast<uint32_t>(value),
                              static_cast<uint32_t>(compared));
}

} // namespace

Path Hierarchy::path(uint32_t group, uint32_t wave, bool is_spread) {
  Path path;
  path.near = &near_[{group, is_spread ? wave % 2 : 0}];
  path.far = keeps_stores() ? &level2_.copies : &far_[group % device_parts];
  path.group_shares_near = !is_spread;
  return path;
}

uint32_t Hierarchy::read(const Path &path, uint64_t address, Scope scope) {
  const bool near =
      scope == Scope::wave || (scope == Scope::group && path.group_shares_near);
  if (near)
    return through(*path.near, address, path.far);
  if (scope != Scope::system)
    return through(*path.far, address, nullptr);
  return read_device(address);
}

/// Past all copies, though not past the device's own stores.
uint32_t Hierarchy::read_device(uint64_t address) {
  return keeps_stores() ? level2_.read(address) : peek(address);
}

/// A copy where there is one, however old.
uint32_t Hierarchy::through(Cache &cache, uint64_t address, Cache *next) {
  Cache::Line *line = cache.find(address);
  if (line == nullptr || random_.below(hits_to_eviction) == 0)
    line = &cache.keep(address, fetch(address, next));
  return (*line)[Cache::word_of(address)];
}

Cache::Line Hierarchy::fetch(uint64_t address, Cache *next) {
  Cache::Line line;
  const uint64_t start = Cache::start_of(address);
  for (size_t i = 0; i < line.size(); ++i)
    line[i] = next != nullptr ? through(*next, start + 4 * i, nullptr)
                              : read_device(start + 4 * i);
  return line;
}

void Hierarchy::write(const Path &path, uint64_t address, uint32_t value,
                      uint32_t mask, Scope scope) {
  path.near->update(address, value, mask);
  path.far->update(address, value, mask);
  if (keeps_stores() && scope != Scope::system)
    return level2_.write(address, value, mask);
  level2_.write_back(address);
  poke(address, value, mask);
}

uint64_t Hierarchy::update(const Path &path, uint64_t address, unsigned bytes,
                           Scope scope, Atomic atomic, uint64_t value,
                           uint64_t compared) {
  uint64_t old;
  if (keeps_stores() && scope != Scope::system) {
    old = level2_.read(address);
    if (bytes == 8)
      old |= static_cast<uint64_t>(level2_.read(address + 4)) << 32;
  } else {
    for (unsigned at = 0; at < bytes; at += 4)
      level2_.write_back(address + at);
    old = bytes == 8
              ? update_memory(address, atomic, value, compared)
              : update_memory(address, atomic, static_cast<uint32_t>(value),
                              static_cast<uint32_t>(compared));
  }
  const uint64_t left = combined(bytes, atomic, old, value, compared);
  for (unsigned at = 0; at < bytes; at += 4) {
    const auto word = static_cast<uint32_t>(left >> 8 * at);
    path.near->update(address + at, word, ~0u);
    path.far->update(address + at, word, ~0u);
    if (keeps_stores() && scope != Scope::system)
      level2_.write(address + at, word, ~0u);
  }
  return old;
}

} // namespace amdgpu
