// SPDX-License-Identifier: MIT
#include "accounts.h"

#include <algorithm>

namespace amdgpu {

namespace {

/// Operations of a wave that may be open; the hardware's counters end at 63.
constexpr size_t most_open = 60;

uint8_t bit(Counter counter) { return static_cast<uint8_t>(1 << counter); }

/// How many operations a counter counts.
long counted(const Lot &lot, Counter counter) {
  return std::count_if(lot.open.begin(), lot.open.end(), [&](const auto &held) {
    return held->counted_by(counter);
  });
}

/// Calls with each counter that a wait is not over for.
template <class Use>
void each_exceeded(const Lot &lot, const Wait &wait, Use use) {
  for (uint8_t i = 0; i < counters; ++i) {
    const auto counter = static_cast<Counter>(i);
    if (wait[i] != no_wait && counted(lot, counter) > wait[i])
      use(counter);
  }
}

/// What a load, or an atomic, has got goes into its registers.
void deliver(const Operation &operation) {
  const Access &access = operation.access;
  const Operand &target = access.instruction.target;
  if (operation.kind == Kind::scalar) {
    if (target.is(Operand::Kind::scalar))
      std::copy_n(operation.words[0].lane, target.words,
                  access.wave.s + target.index);
    return;
  }
  for (uint64_t lanes = operation.memory_lanes; lanes != 0; lanes &= lanes - 1)
    for (unsigned which = 0; which < access.words(); ++which) {
      const auto lane = static_cast<unsigned>(__builtin_ctzll(lanes));
      access.deliver(lane, which, operation.words[which].lane[lane]);
    }
}

} // namespace

void Accounts::open(Lot &lot, std::unique_ptr<Operation> operation) {
  Operation &added = *operation;
  added.counters = counters_of(added);
  lot.open.push_back(std::move(operation));
  performer_.add(added);
  if (added.returns)
    change_poison(lot, added, added.counters, 1);
  if (lot.open.size() > most_open) {
    const auto first =
        std::find_if(lot.open.begin(), lot.open.end(),
                     [](const auto &held) { return !held->performed(); });
    if (first != lot.open.end())
      performer_.perform(lot, **first);
  }
  tidy(lot);
}

Counter Accounts::store_counter() const {
  return is_cdna(family_) ? counter_load : counter_store;
}

uint8_t Accounts::counters_of(const Operation &operation) const {
  switch (operation.kind) {
  case Kind::scalar:
    return bit(family_ == Family::rdna4 ? counter_scalar : counter_lds);
  case Kind::write_back:
    return bit(store_counter());
  case Kind::mark:
    return bit(counter_load);
  default:
    break;
  }
  const Space space = operation.access.form().space;
  if (space == Space::lds)
    return bit(counter_lds);
  const uint8_t memory =
      bit(operation.returns ? counter_load : store_counter());
  return space == Space::flat ? memory | bit(counter_lds) : memory;
}

bool Accounts::is_under_way(const Lot &lot, const Wait &wait) const {
  bool found = false;
  each_exceeded(lot, wait, [&](Counter counter) {
    for (const auto &held : lot.open)
      found |= held->kind == Kind::load && held->left > 0 &&
               held->counted_by(counter);
  });
  return found;
}

void Accounts::wait(Lot &lot, const Wait &wait) {
  each_exceeded(lot, wait, [&](Counter counter) {
    while (counted(lot, counter) > wait[counter])
      end_one(lot, counter);
  });
}

/// Whether operations that a counter counts end in the order of their issue.
bool Accounts::in_order(const Lot &lot, Counter counter) const {
  return std::none_of(lot.open.begin(), lot.open.end(), [&](const auto &held) {
    const bool is_flat = held->access.form().space == Space::flat;
    return held->counted_by(counter) &&
           (held->kind == Kind::scalar || (is_flat && is_cdna(family_)));
  });
}

/// One of the operations that a counter counts ends, as far as it counts.
void Accounts::end_one(Lot &lot, Counter counter) {
  std::vector<Operation *> open;
  for (const auto &held : lot.open)
    if (held->counted_by(counter))
      open.push_back(held.get());
  Operation &operation =
      *open[in_order(lot, counter) ? 0 : random_.below(open.size())];
  if (counter == counter_lds && operation.kind != Kind::scalar)
    performer_.perform_lds(lot, operation);
  else
    performer_.perform_memory(lot, operation);
  operation.counters &= static_cast<uint8_t>(~bit(counter));
  if (operation.returns) {
    change_poison(lot, operation, bit(counter), -1);
    if (operation.counters == 0)
      deliver(operation);
  }
  tidy(lot);
}

void Accounts::change_poison(Lot &lot, const Operation &operation, uint8_t by,
                             int more) {
  for (uint8_t i = 0; i < counters; ++i)
    if (by >> i & 1)
      lot.poison.change(operation.access.instruction, static_cast<Counter>(i),
                        more);
}

void Accounts::tidy(Lot &lot) {
  auto &open = lot.open;
  open.erase(std::remove_if(open.begin(), open.end(),
                            [&](const auto &held) {
                              return held->performed() &&
                                     (lot.ended || held->counters == 0);
                            }),
             open.end());
  // A store that has happened counts while a load before it has not ended.
  const auto first =
      std::find_if(open.begin(), open.end(), [](const auto &held) {
        return held->returns || !held->performed();
      });
  open.erase(open.begin(), first);
}

} // namespace amdgpu
