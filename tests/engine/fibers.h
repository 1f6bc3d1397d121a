// SPDX-License-Identifier: MIT
/// @file
/// @brief A workgroup simulator: lanes are fibers of one thread, and a seeded
/// scheduler decides which of them, or which outside event, comes next.
///
/// Memory is weaker than any machine's: a store waits in its lane's buffer
/// until a system release fence or the scheduler lets it out, in any order
/// among different addresses; a lane's load may for a while hit the copy of an
/// earlier one, until its acquire; a 16-byte load is four loads in random order
/// with other events in between. The same seed gives the same run.
#pragma once

#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace fibers {

/// @brief A run that broke a rule of the machine: a deadlock, a divergent
/// barrier, or no end within the limit of steps.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// @brief Ready to run, or waiting for the others: at a barrier of the group,
/// at a ballot or a broadcast of the wave.
enum class State { ready, barrier, ballot, broadcast, done };

/// @brief A store that memory does not show yet.
struct Store {
  char *address;
  size_t size;
  std::array<char, 8> bytes;
};

/// @brief A dword as a lane loaded it, and when.
struct Copy {
  const uint32_t *address;
  uint32_t word;
  uint64_t since;
};

struct Group;

struct Lane {
  Group *group = nullptr;
  uint32_t index = 0;
  State state = State::ready;
  uint64_t word = 0; ///< What the lane brings to its wave, then what it gets.
  std::vector<Store> stores;
  std::vector<Copy> copies;
  std::vector<char> stack;
  bool entered = false;
  ucontext_t context = {}; ///< Where the lane begins.
  jmp_buf place;           ///< Where it goes on.
};

struct Group {
  std::vector<std::unique_ptr<Lane>> lanes;
  std::map<const char *, std::shared_ptr<void>> shared;
  std::function<void()> body;
};

/// @brief The machine: groups of lanes, virtual time, and outside events.
class World {
public:
  World(uint64_t seed, uint32_t lanes, uint32_t wave)
      : random(seed), lanes_(lanes), wave_(wave) {}

  /// @brief Add a workgroup whose lanes all run `body`.
  void add(std::function<void()> body);

  /// @brief Run until every lane has returned; throws Fault.
  /// @param outside An event outside the workgroups, such as a controller step.
  /// @param limit Most scheduler steps.
  void run(const std::function<void()> &outside, uint64_t limit);

  uint32_t below(uint32_t bound) {
    return static_cast<uint32_t>(random() % bound);
  }

  uint64_t now = 0; ///< Scheduler steps so far: the machine's clock.
  std::mt19937_64 random;

  // What the platform's primitives call, from within a lane.
  void yield();
  void barrier() { wait(State::barrier); }
  uint64_t ballot(bool vote) { return meet(State::ballot, vote ? 1 : 0); }
  uint64_t broadcast(uint64_t word) { return meet(State::broadcast, word); }
  /// @brief Store up to 8 bytes.
  void store(void *address, const void *bytes, size_t size);
  void drain(Lane &lane);
  uint32_t load(const uint32_t *address);
  void acquire() { current_->copies.clear(); }
  Lane &lane() { return *current_; }
  uint32_t wave() const { return wave_; }
  uint32_t lanes() const { return lanes_; }

private:
  void wait(State state);
  void resume(Lane &lane);
  uint64_t meet(State place, uint64_t word);
  bool all_at(const Group &group, uint32_t first, uint32_t end, State place);
  void open_barrier(Group &group);
  void close_meeting(Group &group, uint32_t first, State place);
  void drain_one(Lane &lane);
  template <class Fits> Lane *pick(Fits fits);
  static void enter(unsigned low, unsigned high);

  uint32_t lanes_;
  uint32_t wave_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<Lane *> all_;
  uint32_t alive_ = 0;
  Lane *current_ = nullptr;
  jmp_buf scheduler_;
};

/// @brief The world that the platform's primitives act on.
extern World *world;

/// @brief The variable of the running workgroup under a name; nobody has
/// cleared it.
template <class T> T &shared(const char *name) {
  std::shared_ptr<void> &slot = world->lane().group->shared[name];
  if (!slot) {
    slot = std::make_shared<T>();
    memset(slot.get(), 0xa5, sizeof(T));
  }
  return *static_cast<T *>(slot.get());
}

} // namespace fibers
