// SPDX-License-Identifier: MIT
#include "weak.h"

#include <algorithm>
#include <map>

#include "performer.h"
#include "places.h"
#include "run.h"

namespace amdgpu {

namespace {

/// Operations of a wave that may be open; the hardware's counters end at 63.
constexpr size_t most_open = 60;

/// One event in so many takes a dword from the second level cache to memory.
constexpr uint64_t write_back_share = 3;

/// A wait for a load is tried again until events have ended the load, so that
/// others do much while its dwords come; one try in so many ends it at once.
constexpr uint64_t most_tries = 100;

class WeakMemory : public Memory {
public:
  explicit WeakMemory(Run &run)
      : run_(run), family_(run.image().family()), level2_(Level2::of_device()),
        random_(run.random()), hierarchy_(family_, level2_, random_),
        performer_(hierarchy_, level2_, random_) {
    // A launch begins with an invalidation.
    const Lock lock(level2_.mutex);
    level2_.copies.forget();
  }

  /// What a run has left in the cache that others share must not come out when
  /// the memory is gone.
  ~WeakMemory() override {
    const Lock lock(level2_.mutex);
    while (level2_.dirty()) {
      try {
        level2_.write_back_any(random_);
      } catch (const Fault &) {
        // It is gone: the run has failed, or was not seen to its end.
      }
    }
  }

  void before(Wave &wave, const Instruction &instruction) override {
    if (lot_of(wave).poison.touches(instruction))
      throw Fault("a register is used before the wait for its load");
  }

  void access(const Access &access) override {
    const Lock lock(level2_.mutex);
    const MemoryForm &form = access.form();
    Kind kind = form.store ? Kind::store : Kind::load;
    if (form.atomic != Atomic::none)
      kind = Kind::atomic;
    Lot &lot = lot_of(access.wave);
    auto operation = make(lot, kind, access.wave, access.instruction);
    std::copy_n(access.address, 64, operation->access.address);
    operation->capture();
    for (unsigned part = 0; part < form.parts; ++part)
      for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1)
        place(*operation, static_cast<unsigned>(__builtin_ctzll(lanes)), part);
    count(*operation);
    issue(lot, std::move(operation));
  }

  void scalar_load(Wave &wave, const Instruction &instruction,
                   uint64_t address) override {
    const Lock lock(level2_.mutex);
    run_.reach().at(address, instruction.memory.bytes);
    Lot &lot = lot_of(wave);
    auto operation = make(lot, Kind::scalar, wave, instruction);
    for (uint8_t i = 0; i < instruction.memory.bytes / 4; ++i) {
      peek(address + 4u * i);
      operation->words[0].lane[i] = 0;
      operation->pieces.push_back({address + 4u * i, 4, i, 0, 0});
    }
    issue(lot, std::move(operation));
  }

  void scalar_result(Wave &wave, const Instruction &instruction,
                     uint64_t value) override {
    const Lock lock(level2_.mutex);
    Lot &lot = lot_of(wave);
    auto operation = make(lot, Kind::scalar, wave, instruction);
    operation->words[0].lane[0] = static_cast<uint32_t>(value);
    operation->words[0].lane[1] = static_cast<uint32_t>(value >> 32);
    issue(lot, std::move(operation));
  }

  void wait(Wave &wave, const Instruction &instruction) override {
    const Lock lock(level2_.mutex);
    Lot &lot = lot_of(wave);
    if (is_under_way(lot, instruction) && random_.below(most_tries) != 0) {
      --wave.pc;
      return;
    }
    for (uint8_t i = 0; i < counters; ++i) {
      const auto counter = static_cast<Counter>(i);
      const auto counted = [&] {
        return std::count_if(
            lot.open.begin(), lot.open.end(),
            [&](const auto &held) { return held->counted_by(counter); });
      };
      if (instruction.wait[i] != no_wait)
        while (counted() > instruction.wait[i])
          retire_one(lot, counter);
    }
  }

  void invalidate(Wave &wave, const Instruction &instruction) override {
    const Lock lock(level2_.mutex);
    Lot &lot = lot_of(wave);
    if (instruction.immediate & forget_near)
      lot.path.near->forget();
    if (instruction.immediate & forget_far)
      lot.path.far->forget();
    // Only gfx12 counts an invalidation.
    if (family_ != Family::rdna4)
      return;
    auto operation = make(lot, Kind::mark, wave, instruction);
    operation->counters = 1 << counter_load;
    issue(lot, std::move(operation));
  }

  void write_back(Wave &wave, const Instruction &instruction) override {
    const Lock lock(level2_.mutex);
    Lot &lot = lot_of(wave);
    auto operation = make(lot, Kind::write_back, wave, instruction);
    operation->flushes = true;
    operation->counters = static_cast<uint8_t>(1 << store_counter());
    issue(lot, std::move(operation));
  }

  /// What the wave has stored goes its way; what it has loaded is nobody's.
  void end(Wave &wave) override {
    const Lock lock(level2_.mutex);
    Lot &lot = lot_of(wave);
    for (const auto &operation : lot.open)
      performer_.perform_lds(lot, *operation);
    for (const auto &operation : lot.open)
      if (operation->kind == Kind::load || operation->kind == Kind::scalar)
        performer_.drop(*operation);
    lot.ended = true;
    tidy(lot);
    lots_.erase(std::remove_if(lots_.begin(), lots_.end(),
                               [](const auto &held) {
                                 return held->ended && held->open.empty();
                               }),
                lots_.end());
  }

  void event() override {
    const Lock lock(level2_.mutex);
    if (level2_.dirty() &&
        (performer_.undone() == 0 || random_.below(write_back_share) == 0))
      return level2_.write_back_any(random_);
    const size_t start = random_.below(lots_.size());
    for (size_t i = 0; i < lots_.size(); ++i)
      if (event_of(*lots_[(start + i) % lots_.size()]))
        return;
  }

  bool open() const override {
    const Lock lock(level2_.mutex);
    return performer_.undone() > 0 || level2_.dirty();
  }

private:
  using Lock = std::lock_guard<std::mutex>;

  Lot &lot_of(Wave &wave) {
    if (wave.lot != nullptr)
      return *wave.lot;
    const bool spread = run_.request().kernel->is_spread;
    const uint32_t group = wave.group->number;
    // Waves of one compute unit see each other's stores at once.
    const std::pair<uint32_t, uint32_t> place{group, spread ? wave.index : 0};
    auto lot = std::make_unique<Lot>();
    lot->order = &orders_[place];
    lot->path = hierarchy_.path(group, wave.index, spread);
    wave.lot = lot.get();
    lots_.push_back(std::move(lot));
    return *wave.lot;
  }

  /// Whether an instruction waits for a load from memory that has not ended.
  static bool is_under_way(const Lot &lot, const Instruction &instruction) {
    return std::any_of(lot.open.begin(), lot.open.end(), [&](const auto &held) {
      if (held->kind != Kind::load || held->left == 0)
        return false;
      for (uint8_t i = 0; i < counters; ++i)
        if (instruction.wait[i] != no_wait &&
            held->counted_by(static_cast<Counter>(i)))
          return true;
      return false;
    });
  }

  std::unique_ptr<Operation> make(Lot &lot, Kind kind, Wave &wave,
                                  const Instruction &instruction) {
    auto operation = std::make_unique<Operation>(kind, wave, instruction);
    operation->order = lot.order;
    operation->path = lot.path;
    operation->returns = kind == Kind::scalar || instruction.memory.returns;
    if (kind == Kind::scalar)
      operation->counters = static_cast<uint8_t>(1 << scalar_counter());
    return operation;
  }

  Counter store_counter() const {
    return is_cdna(family_) ? counter_load : counter_store;
  }
  Counter scalar_counter() const {
    return family_ == Family::rdna4 ? counter_scalar : counter_lds;
  }

  /// Says which counters count an access.
  void count(Operation &operation) const {
    const MemoryForm &form = operation.access.form();
    operation.is_flat = form.space == Space::flat;
    if (form.space == Space::lds || form.space == Space::flat)
      operation.counters |= 1 << counter_lds;
    if (form.space != Space::lds)
      operation.counters |= static_cast<uint8_t>(
          1 << (operation.returns ? counter_load : store_counter()));
  }

  /// Finds what a lane reaches. Scratch, which is its own, it has at once.
  void place(Operation &operation, unsigned lane, unsigned part) {
    const Place place = resolve(operation.access, lane, part);
    if (place.space == Space::lds) {
      operation.lds_lanes |= uint64_t(1) << lane;
    } else if (place.space == Space::scratch) {
      transfer(operation.access, lane, part, place.bytes);
    } else {
      const auto address = reinterpret_cast<uint64_t>(place.bytes);
      peek(address & ~uint64_t(3)); // Fails here if it fails at all.
      operation.split(address, lane, part);
    }
  }

  void issue(Lot &lot, std::unique_ptr<Operation> operation) {
    Operation &added = *operation;
    lot.open.push_back(std::move(operation));
    performer_.add(added);
    if (added.returns)
      change_poison(lot, added, added.counters, 1);
    if (lot.open.size() > most_open)
      for (const auto &held : lot.open)
        if (!held->performed()) {
          performer_.perform(lot, *held);
          break;
        }
    tidy(lot);
  }

  void change_poison(Lot &lot, const Operation &operation, uint8_t by,
                     int more) {
    for (uint8_t i = 0; i < counters; ++i)
      if (by >> i & 1)
        lot.poison.change(operation.access.instruction, static_cast<Counter>(i),
                          more);
  }

  /// Whether operations that a counter counts end in the order of their issue.
  bool comes_in_order(const Lot &lot, Counter counter) const {
    return std::none_of(lot.open.begin(), lot.open.end(),
                        [&](const auto &held) {
                          return held->counted_by(counter) &&
                                 (held->kind == Kind::scalar ||
                                  (held->is_flat && is_cdna(family_)));
                        });
  }

  /// One of the operations that a counter counts ends, as far as it counts.
  void retire_one(Lot &lot, Counter counter) {
    std::vector<Operation *> counted;
    for (const auto &held : lot.open)
      if (held->counted_by(counter))
        counted.push_back(held.get());
    const size_t which =
        comes_in_order(lot, counter) ? 0 : random_.below(counted.size());
    Operation &operation = *counted[which];
    if (counter == counter_lds && operation.kind != Kind::scalar)
      performer_.perform_lds(lot, operation);
    else
      performer_.perform_memory(lot, operation);
    operation.counters &= static_cast<uint8_t>(~(1 << counter));
    if (operation.returns) {
      change_poison(lot, operation, static_cast<uint8_t>(1 << counter), -1);
      if (operation.counters == 0)
        deliver(operation);
    }
    tidy(lot);
  }

  /// What a load, or an atomic, has got goes into its registers.
  void deliver(Operation &operation) {
    const Access &access = operation.access;
    const Operand &target = access.instruction.target;
    if (operation.kind == Kind::scalar) {
      if (target.is(Operand::Kind::scalar))
        std::copy_n(operation.words[0].lane, target.words,
                    access.wave.s + target.index);
      return;
    }
    for (uint64_t lanes = operation.memory_lanes; lanes != 0;
         lanes &= lanes - 1)
      for (unsigned which = 0; which < access.words(); ++which) {
        const auto lane = static_cast<unsigned>(__builtin_ctzll(lanes));
        access.deliver(lane, which, operation.words[which].lane[lane]);
      }
  }

  /// Lets go of operations that no wait needs to count any more.
  void tidy(Lot &lot) {
    const auto over = [&](const Operation &operation) {
      return operation.performed() &&
             (operation.counters == 0 || lot.ended || !operation.returns);
    };
    auto &open = lot.open;
    if (lot.ended) {
      open.erase(std::remove_if(open.begin(), open.end(),
                                [&](const auto &held) { return over(*held); }),
                 open.end());
      return;
    }
    open.erase(std::remove_if(open.begin(), open.end(),
                              [](const auto &held) {
                                return held->performed() && held->counters == 0;
                              }),
               open.end());
    // A store that is over may still stand before a load that is not.
    while (!open.empty() && over(*open.front()))
      open.erase(open.begin());
  }

  bool event_of(Lot &lot) {
    std::vector<Operation *> undone;
    for (const auto &held : lot.open)
      if (!held->performed())
        undone.push_back(held.get());
    if (undone.empty())
      return false;
    performer_.perform_some(lot, *undone[random_.below(undone.size())]);
    tidy(lot);
    return true;
  }

  Run &run_;
  Family family_;
  Level2 &level2_;
  Random &random_;
  Hierarchy hierarchy_;
  Performer performer_;
  std::map<std::pair<uint32_t, uint32_t>, Order> orders_;
  std::vector<std::unique_ptr<Lot>> lots_;
};

} // namespace

std::unique_ptr<Memory> make_weak_memory(Run &run) {
  return std::make_unique<WeakMemory>(run);
}

} // namespace amdgpu
