// SPDX-License-Identifier: MIT
#include "level2.h"

#include "reach.h"

namespace amdgpu {

uint32_t peek(uint64_t address) {
  uint32_t value = 0;
  guarded(
      [&] { value = *reinterpret_cast<const volatile uint32_t *>(address); });
  return value;
}

void poke(uint64_t address, uint32_t value, uint32_t mask) {
  guarded([&] {
    if (mask == ~0u) {
      *reinterpret_cast<volatile uint32_t *>(address) = value;
      return;
    }
    for (unsigned byte = 0; byte < 4; ++byte)
      if (mask >> 8 * byte & 1)
        reinterpret_cast<volatile uint8_t *>(address)[byte] =
            static_cast<uint8_t>(value >> 8 * byte);
  });
}

Level2 &Level2::of_device() {
  static Level2 level2;
  return level2;
}

uint32_t Level2::read(uint64_t address) const {
  const uint32_t value = peek(address);
  const auto found = words_.find(address);
  return found == words_.end()
             ? value
             : merged(value, found->second.value, found->second.mask);
}

void Level2::write(uint64_t address, uint32_t value, uint32_t mask) {
  copies.update(address, value, mask);
  const auto [entry, is_new] =
      words_.try_emplace(address, Dirty{0, 0, order_.size()});
  if (is_new)
    order_.push_back(address);
  Dirty &word = entry->second;
  word.value = merged(word.value, value, mask);
  word.mask |= mask;
}

void Level2::write_back(uint64_t address) {
  const auto found = words_.find(address);
  if (found == words_.end())
    return;
  const Dirty word = found->second;
  words_.erase(found);
  if (order_.back() != address) {
    order_[word.place] = order_.back();
    words_.at(order_.back()).place = word.place;
  }
  order_.pop_back();
  poke(address, word.value, word.mask);
}

void Level2::write_back_any(Random &random) {
  write_back(order_[random.below(order_.size())]);
}

void Level2::write_back_all(Random &random) {
  while (dirty())
    write_back_any(random);
}

} // namespace amdgpu
