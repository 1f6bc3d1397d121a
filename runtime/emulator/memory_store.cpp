// SPDX-License-Identifier: MIT
#include "memory_store.h"

#include <deque>
#include <limits>
#include <vector>

#include "bytes.h"

namespace xiokv::emulator {

namespace {

/// A request is carried out as it is submitted.
class MemorySession : public Session {
public:
  explicit MemorySession(MemoryStore &store) : store_(store) {}

  void submit(Request &request) override {
    replies_.push_back(store_.run(request));
  }

  bool poll(Reply &reply) override {
    if (replies_.empty())
      return false;
    reply = std::move(replies_.front());
    replies_.pop_front();
    return true;
  }

private:
  MemoryStore &store_;
  std::deque<Reply> replies_;
};

/// The finaliser of MurmurHash3, 64 bits.
uint64_t mix(uint64_t word) {
  word = (word ^ word >> 33) * UINT64_C(0xff51afd7ed558ccd);
  word = (word ^ word >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
  return word ^ word >> 33;
}

uint64_t hash(const Key &key) {
  const uint64_t low = load<uint64_t>(key.bytes.data());
  const uint64_t high = load<uint64_t>(key.bytes.data() + 8);
  return mix(mix(mix(low) ^ high) ^ key.length);
}

/// Adds `amount` unless the sum passes `limit`.
bool add_within(std::atomic<uint64_t> &sum, uint64_t amount, uint64_t limit) {
  uint64_t seen = sum.load(std::memory_order_relaxed);
  do {
    if (amount > limit || seen > limit - amount)
      return false;
  } while (!sum.compare_exchange_weak(seen, seen + amount,
                                      std::memory_order_relaxed));
  return true;
}

/// A run over one shard's part of a List.
template <class Iterator> struct Run {
  Iterator next, end;
};

/// Hands out the keys of all runs in order.
/// @return Whether the sink took them all.
template <class Iterator>
bool merge(std::vector<Run<Iterator>> runs, const KeySink &sink) {
  for (;;) {
    Run<Iterator> *least = nullptr;
    for (Run<Iterator> &run : runs)
      if (run.next != run.end && (!least || *run.next < *least->next))
        least = &run;
    if (!least)
      return true;
    if (!sink(least->next->key))
      return false;
    ++least->next;
  }
}

} // namespace

MemoryStore::MemoryStore(const Config &config)
    : capacity_(config.capacity),
      max_keys_(config.max_keys != 0 ? config.max_keys
                                     : std::numeric_limits<uint64_t>::max()),
      hashed_(config.has(XIOKV_EMU_HASHED_LIST)),
      wrap_(config.has(XIOKV_EMU_WRAP_LIST)) {}

std::unique_ptr<Session> MemoryStore::open(Wake) {
  return std::make_unique<MemorySession>(*this);
}

Usage MemoryStore::usage() const { return {keys_.load(), bytes_.load()}; }

Reply MemoryStore::run(const Request &request) {
  Reply reply;
  reply.token = request.token;
  switch (request.operation) {
  case Operation::store:
    reply.answer = store(request);
    break;
  case Operation::retrieve:
    reply.answer = retrieve(request, reply);
    break;
  case Operation::list:
    reply.answer = list(request);
    break;
  case Operation::erase:
    reply.answer = erase(request);
    break;
  case Operation::exist:
    reply.answer = exist(request);
    break;
  }
  return reply;
}

Place MemoryStore::place(const Key &key) const {
  return {hashed_ ? hash(key) : 0, key};
}

size_t MemoryStore::Hash::operator()(const Key &key) const { return hash(key); }

MemoryStore::Shard &MemoryStore::shard(const Key &key) {
  return shards_[hash(key) % shard_count];
}

Answer MemoryStore::store(const Request &request) {
  Shard &shard = this->shard(request.key);
  const std::lock_guard<std::mutex> lock(shard.mutex);
  const auto found = shard.values.find(request.key);
  const bool present = found != shard.values.end();
  if (request.condition.must_exist && !present)
    return Answer::missing;
  if (request.condition.must_not_exist && present)
    return Answer::exists;
  const uint64_t old = present ? found->second.size : 0;
  const uint64_t size = request.value.size;
  if (!reserve(present ? 0 : 1, size > old ? size - old : 0))
    return Answer::full;
  give_back(0, old > size ? old - size : 0);
  if (present) {
    found->second = request.value;
  } else {
    shard.values.emplace(request.key, request.value);
    shard.keys.insert(place(request.key));
  }
  return Answer::done;
}

Answer MemoryStore::retrieve(const Request &request, Reply &reply) {
  Shard &shard = this->shard(request.key);
  const std::lock_guard<std::mutex> lock(shard.mutex);
  const auto found = shard.values.find(request.key);
  if (found == shard.values.end())
    return Answer::missing;
  reply.value = found->second;
  reply.size = found->second.size;
  return Answer::done;
}

Answer MemoryStore::list(const Request &request) {
  using Iterator = Keys::const_iterator;
  std::vector<std::unique_lock<std::mutex>> locks;
  std::vector<Run<Iterator>> from_start, before_start;
  const bool whole = request.key.length == 0;
  const Place start = place(request.key);
  for (Shard &shard : shards_) {
    locks.emplace_back(shard.mutex);
    const Keys &keys = shard.keys;
    const Iterator first = whole ? keys.begin() : keys.lower_bound(start);
    from_start.push_back({first, keys.end()});
    before_start.push_back({keys.begin(), first});
  }
  if (merge(std::move(from_start), request.sink) && wrap_)
    merge(std::move(before_start), request.sink);
  return Answer::done;
}

Answer MemoryStore::erase(const Request &request) {
  Shard &shard = this->shard(request.key);
  const std::lock_guard<std::mutex> lock(shard.mutex);
  const auto found = shard.values.find(request.key);
  if (found == shard.values.end())
    return Answer::missing;
  give_back(1, found->second.size);
  shard.values.erase(found);
  shard.keys.erase(place(request.key));
  return Answer::done;
}

Answer MemoryStore::exist(const Request &request) {
  Shard &shard = this->shard(request.key);
  const std::lock_guard<std::mutex> lock(shard.mutex);
  return shard.values.count(request.key) != 0 ? Answer::done : Answer::missing;
}

bool MemoryStore::reserve(uint64_t keys, uint64_t bytes) {
  if (!add_within(keys_, keys, max_keys_))
    return false;
  if (add_within(bytes_, bytes, capacity_))
    return true;
  keys_.fetch_sub(keys, std::memory_order_relaxed);
  return false;
}

void MemoryStore::give_back(uint64_t keys, uint64_t bytes) {
  keys_.fetch_sub(keys, std::memory_order_relaxed);
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

} // namespace xiokv::emulator
