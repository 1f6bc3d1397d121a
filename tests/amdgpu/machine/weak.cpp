// SPDX-License-Identifier: MIT
#include "weak.h"

#include <algorithm>
#include <map>

#include "accounts.h"
#include "performer.h"
#include "places.h"
#include "run.h"

namespace amdgpu {

namespace {

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
        performer_(hierarchy_, level2_, random_),
        accounts_(family_, performer_, random_) {
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
    accounts_.open(lot, std::move(operation));
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
    accounts_.open(lot, std::move(operation));
  }

  void scalar_result(Wave &wave, const Instruction &instruction,
                     uint64_t value) override {
    const Lock lock(level2_.mutex);
    Lot &lot = lot_of(wave);
    auto operation = make(lot, Kind::scalar, wave, instruction);
    operation->words[0].lane[0] = static_cast<uint32_t>(value);
    operation->words[0].lane[1] = static_cast<uint32_t>(value >> 32);
    accounts_.open(lot, std::move(operation));
  }

  void wait(Wave &wave, const Instruction &instruction) override {
    const Lock lock(level2_.mutex);
    Lot &lot = lot_of(wave);
    if (accounts_.is_under_way(lot, instruction.wait) &&
        random_.below(most_tries) != 0)
      --wave.pc;
    else
      accounts_.wait(lot, instruction.wait);
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
    accounts_.open(lot, std::move(operation));
  }

  void write_back(Wave &wave, const Instruction &instruction) override {
    const Lock lock(level2_.mutex);
    Lot &lot = lot_of(wave);
    auto operation = make(lot, Kind::write_back, wave, instruction);
    operation->flushes = true;
    accounts_.open(lot, std::move(operation));
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
    accounts_.tidy(lot);
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

  std::unique_ptr<Operation> make(Lot &lot, Kind kind, Wave &wave,
                                  const Instruction &instruction) {
    auto operation = std::make_unique<Operation>(kind, wave, instruction);
    operation->order = lot.order;
    operation->path = lot.path;
    operation->returns = kind == Kind::scalar || instruction.memory.returns;
    return operation;
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

  bool event_of(Lot &lot) {
    std::vector<Operation *> undone;
    for (const auto &held : lot.open)
      if (!held->performed())
        undone.push_back(held.get());
    if (undone.empty())
      return false;
    performer_.perform_some(lot, *undone[random_.below(undone.size())]);
    accounts_.tidy(lot);
    return true;
  }

  Run &run_;
  Family family_;
  Level2 &level2_;
  Random &random_;
  Hierarchy hierarchy_;
  Performer performer_;
  Accounts accounts_;
  std::map<std::pair<uint32_t, uint32_t>, Order> orders_;
  std::vector<std::unique_ptr<Lot>> lots_;
};

} // namespace

std::unique_ptr<Memory> make_weak_memory(Run &run) {
  return std::make_unique<WeakMemory>(run);
}

} // namespace amdgpu
