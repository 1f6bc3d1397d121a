// SPDX-License-Identifier: MIT
#include "fibers.h"

#include <string.h>

#include <algorithm>

namespace fibers {

World *world = nullptr;

namespace {
constexpr size_t stack_bytes = 256 * 1024;
constexpr uint64_t copy_steps = 1000; // how old a copy may be

bool overlap(const Store &a, const Store &b) {
  return a.address < b.address + b.size && b.address < a.address + a.size;
}
} // namespace

void World::add(std::function<void()> body) {
  auto group = std::make_unique<Group>();
  group->body = std::move(body);
  for (uint32_t i = 0; i < lanes_; ++i) {
    auto lane = std::make_unique<Lane>();
    lane->group = group.get();
    lane->index = i;
    lane->stack.resize(stack_bytes);
    getcontext(&lane->context);
    lane->context.uc_stack.ss_sp = lane->stack.data();
    lane->context.uc_stack.ss_size = lane->stack.size();
    const uint64_t self = reinterpret_cast<uint64_t>(lane.get());
    makecontext(&lane->context, reinterpret_cast<void (*)()>(enter), 2,
                static_cast<unsigned>(self), static_cast<unsigned>(self >> 32));
    all_.push_back(lane.get());
    group->lanes.push_back(std::move(lane));
  }
  groups_.push_back(std::move(group));
  alive_ += lanes_;
}

void World::enter(unsigned low, unsigned high) {
  Lane *lane =
      reinterpret_cast<Lane *>(static_cast<uint64_t>(high) << 32 | low);
  lane->group->body();
  lane->state = State::done;
  _longjmp(world->scheduler_, 1);
}

void World::resume(Lane &lane) {
  current_ = &lane;
  if (_setjmp(scheduler_) == 0) {
    if (lane.entered)
      _longjmp(lane.place, 1);
    lane.entered = true;
    setcontext(&lane.context);
  }
  current_ = nullptr;
  if (lane.state == State::done) {
    drain(lane);
    --alive_;
  } else if (lane.state == State::barrier)
    open_barrier(*lane.group);
  else if (lane.state != State::ready)
    close_meeting(*lane.group, lane.index / wave_ * wave_, lane.state);
}

/// Jumps cost no system call, as changing contexts does.
void World::yield() {
  if (_setjmp(current_->place) == 0)
    _longjmp(scheduler_, 1);
}

void World::wait(State state) {
  current_->state = state;
  yield();
}

uint64_t World::meet(State place, uint64_t word) {
  Lane &self = *current_;
  self.word = word;
  wait(place);
  return self.word;
}

void World::store(void *address, const void *bytes, size_t size) {
  Store store = {static_cast<char *>(address), size, {}};
  if (size > store.bytes.size())
    throw Fault("a store of " + std::to_string(size) + " bytes");
  memcpy(store.bytes.data(), bytes, size);
  current_->stores.push_back(store);
}

/// Lets all stores out, in their order: nobody looks between one and the next.
void World::drain(Lane &lane) {
  for (const Store &store : lane.stores)
    memcpy(store.address, store.bytes.data(), store.size);
  lane.stores.clear();
}

/// Takes the copy or renews it: what a lane sees of a dword never goes back.
uint32_t World::load(const uint32_t *address) {
  std::vector<Copy> &copies = current_->copies;
  auto copy = std::find_if(copies.begin(), copies.end(),
                           [=](const Copy &c) { return c.address == address; });
  if (copy == copies.end())
    copy = copies.insert(copies.end(), {address, 0, 0});
  else if (now - copy->since < copy_steps && below(2) != 0)
    return copy->word;
  copy->word = *static_cast<const volatile uint32_t *>(address);
  copy->since = now;
  return copy->word;
}

/// Lets one store out: any, but never before an earlier one to the same bytes.
void World::drain_one(Lane &lane) {
  std::vector<Store> &stores = lane.stores;
  size_t pick = below(static_cast<uint32_t>(stores.size()));
  for (size_t i = 0; i < pick; ++i)
    if (overlap(stores[i], stores[pick]))
      pick = i;
  memcpy(stores[pick].address, stores[pick].bytes.data(), stores[pick].size);
  stores.erase(stores.begin() + static_cast<ptrdiff_t>(pick));
}

bool World::all_at(const Group &group, uint32_t first, uint32_t end,
                   State place) {
  for (uint32_t i = first; i < end; ++i)
    if (group.lanes[i]->state != place)
      return false;
  return true;
}

/// A barrier opens when every lane of the group stands at it.
void World::open_barrier(Group &group) {
  if (all_at(group, 0, lanes_, State::barrier))
    for (const auto &lane : group.lanes)
      lane->state = State::ready;
}

/// A wave's lanes go on when all have come: with the votes, or lane 0's word.
void World::close_meeting(Group &group, uint32_t first, State place) {
  const uint32_t end = std::min(first + wave_, lanes_);
  if (!all_at(group, first, end, place))
    return;
  uint64_t word = group.lanes[first]->word;
  if (place == State::ballot)
    for (uint32_t i = first + 1; i < end; ++i)
      word |= group.lanes[i]->word << (i - first);
  for (uint32_t i = first; i < end; ++i) {
    group.lanes[i]->word = word;
    group.lanes[i]->state = State::ready;
  }
}

/// The first lane that fits, from a random place on; null where none does.
template <class Fits> Lane *World::pick(Fits fits) {
  const uint32_t count = static_cast<uint32_t>(all_.size());
  const uint32_t start = below(count);
  for (uint32_t i = 0; i < count; ++i) {
    Lane *lane = all_[(start + i) % count];
    if (fits(*lane))
      return lane;
  }
  return nullptr;
}

void World::run(const std::function<void()> &outside, uint64_t limit) {
  world = this;
  for (uint64_t step = 0; step < limit; ++step, ++now) {
    if (alive_ == 0)
      return;
    const uint32_t dice = below(16);
    if (dice < 4) {
      outside();
      continue;
    }
    if (dice < 6) {
      if (Lane *lane = pick([](Lane &l) { return !l.stores.empty(); }))
        drain_one(*lane);
      continue;
    }
    Lane *lane = pick([](Lane &l) { return l.state == State::ready; });
    if (lane == nullptr)
      throw Fault("deadlock: lanes of a workgroup wait at different places");
    resume(*lane);
  }
  throw Fault("no end within " + std::to_string(limit) + " steps");
}

} // namespace fibers
