// SPDX-License-Identifier: MIT
#include "performer.h"

#include <numeric>

#include "places.h"

namespace amdgpu {

namespace {

bool writes(const Operation &operation) {
  return operation.kind == Kind::store || operation.kind == Kind::atomic;
}

/// Scalar loads have caches of their own, which nothing here makes stale.
Scope scope_of(const Operation &operation) {
  return operation.kind == Kind::scalar ? Scope::system
                                        : operation.access.form().scope;
}

/// The bytes that a store's piece writes, at their place in the dword.
uint32_t stored(const Operation &operation, const Piece &piece) {
  const uint32_t word = operation.access.data(piece.lane, piece.which);
  return word >> 8 * piece.first << piece.shift();
}

} // namespace

void Performer::add(Operation &operation) {
  operation.left = static_cast<uint32_t>(operation.pieces.size());
  for (uint32_t i = 0; i < operation.left; ++i)
    operation.order->add({&operation, i});
  if (!operation.performed())
    ++undone_;
}

void Performer::drop(Operation &operation) {
  if (operation.performed())
    return;
  for (uint32_t i = 0; i < operation.pieces.size(); ++i)
    if (!operation.pieces[i].done)
      operation.order->remove({&operation, i});
  operation.left = 0;
  operation.lds_lanes = 0;
  --undone_;
}

/// Called when a part of an operation has happened.
void Performer::note(const Operation &operation) {
  if (operation.performed())
    --undone_;
}

void Performer::perform(Lot &lot, Operation &operation) {
  perform_lds(lot, operation);
  perform_memory(lot, operation);
}

void Performer::perform_memory(Lot &lot, Operation &operation) {
  if (operation.flushes)
    return flush(lot, operation);
  std::vector<uint32_t> order(operation.pieces.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 0; --i) {
    std::swap(order[i - 1], order[random_.below(i)]);
    piece({&operation, order[i - 1]});
  }
}

void Performer::perform_some(Lot &lot, Operation &operation) {
  if (operation.lds_lanes != 0 && random_.below(2) == 0)
    return perform_lds(lot, operation);
  // What comes from the host is long under way.
  const bool slow =
      operation.kind == Kind::load && scope_of(operation) == Scope::system;
  if (operation.left == 0 || random_.below(slow ? 64 : 8) == 0)
    return perform(lot, operation);
  const uint64_t start = random_.below(operation.pieces.size());
  for (uint64_t count = 1 + random_.below(slow ? 2 : 8); count > 0; --count)
    piece({&operation,
           static_cast<uint32_t>((start + count) % operation.pieces.size())});
}

/// What was issued earlier on the same dwords comes first: all of it before a
/// store. A load takes from earlier stores what they will write.
void Performer::piece(PieceOf which) {
  Operation &operation = *which.operation;
  if (which.piece().done)
    return;
  for (const PieceOf &earlier : operation.order->before(which))
    if (writes(operation) || earlier.operation->kind != Kind::store)
      piece(earlier);
  if (operation.kind == Kind::store)
    store(which);
  else if (operation.kind == Kind::atomic)
    update(which);
  else
    load(which);
  which.piece().done = true;
  operation.order->remove(which);
  --operation.left;
  note(operation);
}

void Performer::load(PieceOf which) {
  Operation &operation = *which.operation;
  const Piece &piece = which.piece();
  uint32_t word =
      hierarchy_.read(operation.path, piece.word(), scope_of(operation));
  for (const PieceOf &earlier : operation.order->before(which))
    word = merged(word, stored(*earlier.operation, earlier.piece()),
                  earlier.piece().mask());
  operation.words[piece.which].lane[piece.lane] |=
      (word & piece.mask()) >> piece.shift() << 8 * piece.first;
}

void Performer::store(PieceOf which) {
  const Operation &operation = *which.operation;
  const Piece &piece = which.piece();
  hierarchy_.write(operation.path, piece.word(), stored(operation, piece),
                   piece.mask(), operation.access.form().scope);
}

void Performer::update(PieceOf which) {
  Operation &operation = *which.operation;
  const Piece &piece = which.piece();
  const MemoryForm &form = operation.access.form();
  const unsigned second = piece.bytes / 4;
  const uint64_t old =
      hierarchy_.update(operation.path, piece.address, piece.bytes, form.scope,
                        form.atomic, operation.access.data64(piece.lane, 0),
                        operation.access.data64(piece.lane, second));
  operation.words[0].lane[piece.lane] = static_cast<uint32_t>(old);
  operation.words[1].lane[piece.lane] = static_cast<uint32_t>(old >> 32);
}

void Performer::perform_lds(Lot &lot, Operation &operation) {
  if (operation.lds_lanes == 0)
    return;
  for (const auto &earlier : lot.open) {
    if (earlier->lds_lanes != 0)
      lds(*earlier);
    if (earlier.get() == &operation)
      return;
  }
}

void Performer::lds(Operation &operation) {
  const Access &access = operation.access;
  for (unsigned part = 0; part < access.form().parts; ++part)
    for (uint64_t lanes = operation.lds_lanes; lanes != 0; lanes &= lanes - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctzll(lanes));
      transfer(access, lane, part, resolve(access, lane, part).bytes);
    }
  operation.lds_lanes = 0;
  note(operation);
}

/// A write-back follows the wave's earlier stores on their way.
void Performer::flush(Lot &lot, Operation &operation) {
  for (const auto &earlier : lot.open) {
    if (earlier.get() == &operation)
      break;
    if (writes(*earlier) && earlier->left > 0)
      perform_memory(lot, *earlier);
  }
  if (operation.access.form().scope == Scope::system)
    level2_.write_back_all(random_);
  operation.flushes = false;
  note(operation);
}

} // namespace amdgpu
