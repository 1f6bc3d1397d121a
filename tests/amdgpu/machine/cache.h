// SPDX-License-Identifier: MIT
/// @file
/// @brief Copies of memory that may be stale: what a cache holds of others'
/// lines until it is told to forget them.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <array>
#include <unordered_map>

namespace amdgpu {

/// @brief Bytes of a dword, as a mask of its bits.
inline uint32_t merged(uint32_t old, uint32_t value, uint32_t mask) {
  return (value & mask) | (old & ~mask);
}

class Cache {
public:
  static constexpr uint64_t line_bytes = 128;
  using Line = std::array<uint32_t, line_bytes / 4>;

  static uint64_t start_of(uint64_t address) {
    return address & ~(line_bytes - 1);
  }
  /// @brief The copy of the line that an address is in; null: there is none.
  Line *find(uint64_t address) {
    const auto found = lines_.find(start_of(address));
    return found == lines_.end() ? nullptr : &found->second;
  }
  Line &keep(uint64_t address, const Line &line) {
    if (lines_.size() >= most_lines)
      lines_.clear();
    return lines_[start_of(address)] = line;
  }
  /// @brief Part of a dword is written through: a copy of it changes as well.
  void update(uint64_t address, uint32_t value, uint32_t mask) {
    if (Line *line = find(address)) {
      uint32_t &word = (*line)[word_of(address)];
      word = merged(word, value, mask);
    }
  }
  void forget() { lines_.clear(); }

  static size_t word_of(uint64_t address) { return address % line_bytes / 4; }

private:
  static constexpr size_t most_lines = 512;
  std::unordered_map<uint64_t, Line> lines_;
};

} // namespace amdgpu
