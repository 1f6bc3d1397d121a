// SPDX-License-Identifier: MIT
#include "run.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

#include <algorithm>

#include "direct.h"
#include "error.h"
#include "weak.h"

namespace amdgpu {

namespace {

/// Waves that run at the same time; groups beyond begin as others end.
constexpr size_t most_waves = 1024;

/// Instructions of a wave before another one's turn: few where memory is weak,
/// so that all orders come about; many where speed is what counts.
constexpr uint64_t weak_turn = 3;
constexpr uint64_t plain_turn = 256;

/// Of weak steps, one in so many is an event of memory.
constexpr uint64_t event_share = 4;

std::string hexadecimal(uint64_t number) {
  char text[32];
  snprintf(text, sizeof text, "0x%llx",
           static_cast<unsigned long long>(number));
  return text;
}

} // namespace

Run::Run(Image &image, Request request)
    : image_(image), request_(std::move(request)),
      random_(request_.options.seed) {
  request_.arguments = whole_arguments(request_);
  packet_ = dispatch_packet(request_);
  for (uint32_t i = 0; i < request_.options.range_count; ++i)
    reach_.add(request_.options.ranges[i]);
  if (request_.options.range_count > 0)
    reach_own();
  memory_ = weak() ? make_weak_memory(*this) : make_direct_memory();
  Guard::install();
  admit();
}

/// The code object, its arguments and its packet are always within reach.
void Run::reach_own() {
  reach_.add(
      {reinterpret_cast<uint64_t>(image_.elf().base()), image_.elf().size()});
  reach_.add({reinterpret_cast<uint64_t>(request_.arguments.data()),
              request_.arguments.size()});
  reach_.add({reinterpret_cast<uint64_t>(packet_.data()),
              packet_.size() * sizeof(uint64_t)});
}

/// Begin groups while there is room.
void Run::admit() {
  const uint32_t *groups = request_.groups;
  const uint32_t total = groups[0] * groups[1] * groups[2];
  while (admitted_ < total && (waves_.empty() || waves_.size() < most_waves))
    add_group(admitted_++);
}

void Run::add_group(uint32_t number) {
  auto group = std::make_unique<Group>();
  const uint32_t *groups = request_.groups;
  group->number = number;
  group->id[0] = number % groups[0];
  group->id[1] = number / groups[0] % groups[1];
  group->id[2] = number / groups[0] / groups[1];
  begin_group(*group, *this, packet_);
  for (const auto &wave : group->waves)
    waves_.push_back(wave.get());
  groups_.push_back(std::move(group));
}

int Run::step(uint64_t steps) {
  if (!failure_.empty())
    return -1;
  try {
    return advance(steps) ? 1 : 0;
  } catch (const Fault &fault) {
    failure_ = fault.what();
    if (current_ != nullptr)
      failure_ += where(*current_);
    return -1;
  }
}

/// Instructions and events of memory, until there are no more, or as many as
/// were asked for; whether there are more.
bool Run::advance(uint64_t steps) {
  while (!waves_.empty() || memory_->open()) {
    if (steps == 0)
      return true;
    if (event_is_next()) {
      current_ = nullptr;
      memory_->event();
      --steps;
      continue;
    }
    Wave *wave = pick();
    if (wave == nullptr)
      throw Fault("deadlock: every wave waits at a barrier");
    steps -= turn(*wave, steps);
  }
  return false;
}

/// What the waves leave behind comes out when they have ended, too.
bool Run::event_is_next() {
  return memory_->open() && (waves_.empty() || random_.below(event_share) == 0);
}

/// A wave that is ready: the first one from a random place on.
Wave *Run::pick() {
  const size_t start = random_.below(waves_.size());
  for (size_t i = 0; i < waves_.size(); ++i) {
    Wave *wave = waves_[(start + i) % waves_.size()];
    if (wave->state == State::ready)
      return wave;
  }
  return nullptr;
}

/// Runs a wave for some instructions; how many it were.
uint64_t Run::turn(Wave &wave, uint64_t most) {
  const uint64_t limit = request_.options.instruction_limit;
  current_ = &wave;
  if (limit != 0 && wave.executed >= limit)
    throw Fault("no end within " + std::to_string(limit) + " instructions");
  uint64_t count = 1 + random_.below(weak() ? weak_turn : plain_turn);
  count = std::min(count, most);
  if (limit != 0)
    count = std::min(count, limit - wave.executed);
  wave.pausing = false;
  const uint64_t before = executed_;
  execute(wave, count);
  pauses_ = wave.pausing ? pauses_ + 1 : 0;
  if (wave.state == State::ended)
    forget(wave);
  else if (pauses_ > waves_.size())
    sched_yield(); // Every wave waits for someone outside.
  return executed_ - before;
}

void Run::execute(Wave &wave, uint64_t count) {
  const Instruction *code = image_.code().data();
  const bool checked = weak();
  while (count-- > 0 && wave.state == State::ready && !wave.pausing) {
    const Instruction &instruction = code[wave.pc];
    running_ = &instruction;
    if (checked)
      memory_->before(wave, instruction);
    ++wave.pc;
    ++wave.executed;
    ++executed_;
    instruction.run(wave, instruction);
  }
}

void Run::forget(Wave &wave) {
  current_ = nullptr;
  waves_.erase(std::find(waves_.begin(), waves_.end(), &wave));
  Group *group = wave.group;
  if (group->alive > 0)
    return;
  groups_.erase(
      std::find_if(groups_.begin(), groups_.end(),
                   [&](const auto &held) { return held.get() == group; }));
  admit();
}

void Run::end(Wave &wave) {
  Group &group = *wave.group;
  memory_->end(wave);
  wave.state = State::ended;
  --group.alive;
  if (group.at_barrier > 0)
    throw Fault("a wave ends while others of its group wait at a barrier");
}

void Run::signal_barrier(Wave &wave) {
  Group &group = *wave.group;
  if (group.alive < group.waves.size())
    throw Fault("a barrier that not all waves of the group reach");
  if (wave.barriers > group.barriers)
    throw Fault("a barrier is signalled twice");
  ++wave.barriers;
  if (++group.at_barrier < group.waves.size())
    return;
  group.at_barrier = 0;
  ++group.barriers;
  for (const auto &other : group.waves)
    if (other->state == State::barrier)
      other->state = State::ready;
}

void Run::wait_barrier(Wave &wave) {
  if (wave.barriers > wave.group->barriers)
    wave.state = State::barrier;
}

uint64_t Run::clock() const {
  if (!(request_.options.flags & AMDGPU_REAL_TIME))
    return executed_;
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  // 100 MHz: a tick is 10 ns.
  return (static_cast<uint64_t>(now.tv_sec) * 1000000000 +
          static_cast<uint64_t>(now.tv_nsec)) /
         10;
}

std::string Run::where(const Wave &wave) const {
  return ": " + running_->text + " at " + hexadecimal(running_->address) +
         ", wave " + std::to_string(wave.index) + " of group " +
         std::to_string(wave.group->number);
}

} // namespace amdgpu
