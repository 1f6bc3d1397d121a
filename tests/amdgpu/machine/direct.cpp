// SPDX-License-Identifier: MIT
#include "direct.h"

#include <atomic>

#include "places.h"
#include "run.h"

namespace amdgpu {

namespace {

class DirectMemory : public Memory {
public:
  void before(Wave &, const Instruction &) override {}

  void access(const Access &access) override {
    uint8_t *places[2][64];
    for (unsigned part = 0; part < access.form().parts; ++part)
      for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<unsigned>(__builtin_ctzll(lanes));
        places[part][lane] = resolve(access, lane, part).bytes;
      }
    guarded([&] {
      for (unsigned part = 0; part < access.form().parts; ++part)
        for (uint64_t lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
          const auto lane = static_cast<unsigned>(__builtin_ctzll(lanes));
          transfer(access, lane, part, places[part][lane]);
        }
    });
  }

  void scalar_load(Wave &wave, const Instruction &instruction,
                   uint64_t address) override {
    const unsigned words = instruction.memory.bytes / 4u;
    const uint8_t *from =
        wave.run->reach().at(address, instruction.memory.bytes);
    uint32_t *to = wave.s + instruction.target.index;
    guarded([&] {
      for (unsigned i = 0; i < words; ++i)
        to[i] = *reinterpret_cast<const volatile uint32_t *>(from + 4 * i);
    });
  }

  void scalar_result(Wave &wave, const Instruction &instruction,
                     uint64_t value) override {
    wave.set_scalar(instruction.target, static_cast<uint32_t>(value));
    if (instruction.target.words > 1)
      wave.set_scalar(instruction.target, value);
  }

  // All that went before has happened; other threads must see it so.
  void wait(Wave &, const Instruction &) override { fence(); }
  void invalidate(Wave &, const Instruction &) override { fence(); }
  void write_back(Wave &, const Instruction &) override { fence(); }

  void end(Wave &) override {}
  void event() override {}
  bool open() const override { return false; }

private:
  static void fence() { std::atomic_thread_fence(std::memory_order_acq_rel); }
};

} // namespace

std::unique_ptr<Memory> make_direct_memory() {
  return std::make_unique<DirectMemory>();
}

} // namespace amdgpu
