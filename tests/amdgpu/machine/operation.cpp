// SPDX-License-Identifier: MIT
#include "operation.h"

#include <algorithm>

namespace amdgpu {

namespace {

/// Calls with each aligned dword that a piece is in.
template <class Use> void each_word(const Piece &piece, Use use) {
  for (uint64_t word = piece.word(); word < piece.address + piece.bytes;
       word += 4)
    use(word);
}

bool same(const PieceOf &a, const PieceOf &b) {
  return a.operation == b.operation && a.index == b.index;
}

} // namespace

void Order::add(PieceOf piece) {
  each_word(piece.piece(),
            [&](uint64_t word) { words_[word].push_back(piece); });
}

void Order::remove(PieceOf piece) {
  each_word(piece.piece(), [&](uint64_t word) {
    const auto entry = words_.find(word);
    std::vector<PieceOf> &list = entry->second;
    list.erase(
        std::find_if(list.begin(), list.end(),
                     [&](const PieceOf &other) { return same(piece, other); }));
    if (list.empty())
      words_.erase(entry);
  });
}

std::vector<PieceOf> Order::before(PieceOf piece) const {
  std::vector<PieceOf> earlier;
  each_word(piece.piece(), [&](uint64_t word) {
    for (const PieceOf &other : words_.at(word)) {
      if (other.operation == piece.operation)
        break;
      earlier.push_back(other);
    }
  });
  return earlier;
}

void Operation::capture() {
  for (unsigned which = 0; which < 4; ++which) {
    // A load has no data; its bytes come together here.
    words[which] = kind == Kind::load ? Lanes{} : *access.values[which];
    access.values[which] = &words[which];
  }
}

void Operation::split(uint64_t address, unsigned lane, unsigned part) {
  const unsigned bytes = access.form().bytes;
  memory_lanes |= uint64_t(1) << lane;
  if (kind == Kind::atomic) {
    pieces.push_back({address, static_cast<uint8_t>(bytes),
                      static_cast<uint8_t>(lane), 0, 0});
    return;
  }
  for (unsigned at = 0; at < bytes;) {
    const auto to_word = static_cast<unsigned>(4 - (address + at) % 4);
    const unsigned size = std::min({to_word, 4 - at % 4, bytes - at});
    pieces.push_back({address + at, static_cast<uint8_t>(size),
                      static_cast<uint8_t>(lane),
                      static_cast<uint8_t>(part * access.words() + at / 4),
                      static_cast<uint8_t>(at % 4)});
    at += size;
  }
}

} // namespace amdgpu
