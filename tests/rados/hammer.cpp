// SPDX-License-Identifier: MIT
/// @file
/// @brief Sessions on several threads against a store on a cluster, closed
/// while requests are in flight; made for sanitisers.
///
/// Usage: hammer CONF POOL NAMESPACE ROUNDS. A value is one byte, repeated, so
/// that a Retrieve that mixes two Stores shows. Requests and what a session
/// wakes are freed as soon as it is closed, so that a late access shows. Large
/// values are sent from memory that is lent, which is overwritten as soon as
/// that is allowed. A second store gives up after a millisecond.
#include "rados_store.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>

#include <sys/mman.h>

namespace {

using namespace xiokv::emulator;
using xiokv::rados::Place;
using xiokv::rados::RadosStore;

constexpr uint32_t threads = 3;
constexpr uint32_t depth = 24;
constexpr uint32_t key_count = 8;
constexpr uint32_t copied_max = 20000;
constexpr uint32_t lent_min = 64 << 10;
constexpr uint32_t value_max = lent_min + 9000;

[[noreturn]] void fail(const char *what) {
  std::fprintf(stderr, "hammer: %s\n", what);
  std::exit(1);
}

/// What a session calls when it may have replies.
class Bell {
public:
  void ring() {
    const std::lock_guard<std::mutex> lock(mutex_);
    rung_ = true;
    changed_.notify_one();
  }

  /// Replies to what is overdue come without a call.
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(2),
                      [this] { return rung_; });
    rung_ = false;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool rung_ = false;
};

/// Memory of a host for large values, one a slot, which end within a page.
class Lent {
public:
  explicit Lent(ValueStore &store)
      : store_(store), bytes_(static_cast<uint8_t *>(
                           mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (bytes_ == MAP_FAILED || !store_.lend(bytes_, size))
      fail("no memory that could be lent");
  }
  ~Lent() {
    for (uint32_t slot = 0; slot < depth; ++slot)
      spoil(slot);
    store_.take_back(bytes_);
    munmap(bytes_, size);
  }

  /// A value, or none where a message holds what was there before.
  Blob value(uint32_t slot, uint32_t bytes, uint8_t what) {
    std::memset(at(slot), what, bytes);
    return store_.borrow(at(slot), bytes);
  }

  /// Make a value of it that nobody stores.
  void spoil(uint32_t slot) {
    std::iota(at(slot), at(slot) + value_max, uint8_t{0});
  }

private:
  static constexpr size_t size = size_t{depth} * value_max;

  uint8_t *at(uint32_t slot) { return bytes_ + size_t{slot} * value_max; }

  ValueStore &store_;
  uint8_t *const bytes_;
};

/// A session, and what it has in flight; both end at once.
class Queue {
public:
  Queue(ValueStore &store, bool in_time, uint32_t seed)
      : store_(store), in_time_(in_time), random_(seed), lent_(store),
        requests_(depth), busy_(depth), listed_(depth),
        session_(store.open([this] { bell_.ring(); })) {}

  void submit() {
    for (uint32_t slot = 0; slot < depth; ++slot)
      if (!busy_[slot])
        submit(slot);
  }

  /// Returns how many replies there were.
  uint32_t poll() {
    uint32_t taken = 0;
    for (Reply reply; session_->poll(reply); ++taken)
      check(reply);
    if (taken == 0)
      bell_.wait();
    return taken;
  }

  bool idle() const {
    return std::find(busy_.begin(), busy_.end(), true) == busy_.end();
  }

private:
  void submit(uint32_t slot) {
    static constexpr Operation operations[] = {
        Operation::store,    Operation::store, Operation::retrieve,
        Operation::retrieve, Operation::exist, Operation::erase};
    Request &request = requests_[slot];
    request = {};
    request.token = slot;
    request.operation =
        random_() % 40 == 0 ? Operation::list : operations[random_() % 6];
    request.key.length = 1;
    request.key.bytes[0] = static_cast<uint8_t>(random_() % key_count);
    request.wanted = random_() % 3 == 0 ? value_max : random_() % value_max;
    if (request.operation == Operation::store)
      request.value = value(slot);
    request.condition.must_exist = random_() % 8 == 0;
    request.condition.must_not_exist =
        !request.condition.must_exist && random_() % 8 == 0;
    listed_[slot] = 0;
    request.sink = [this, slot](const Key &key) {
      listed_[slot] += key.length;
      return listed_[slot] < 5;
    };
    busy_[slot] = true;
    session_->submit(request);
  }

  Blob value(uint32_t slot) {
    const auto what = static_cast<uint8_t>(random_());
    if (random_() % 3 == 0) {
      const uint32_t size = lent_min + random_() % (value_max - lent_min);
      const Blob value = lent_.value(slot, size, what);
      if (value.bytes)
        return value;
    }
    Room room = store_.allocate(random_() % copied_max);
    if (!room.bytes)
      fail("no memory");
    std::memset(room.bytes, what, room.blob.size);
    return room.blob;
  }

  void check(const Reply &reply) {
    if (reply.token >= depth || !busy_[reply.token])
      fail("a reply to nothing");
    busy_[reply.token] = false;
    const Request &request = requests_[reply.token];
    lent_.spoil(static_cast<uint32_t>(reply.token));
    const bool writes = request.operation == Operation::store;
    if (reply.answer != Answer::done && reply.answer != Answer::missing &&
        !(reply.answer == Answer::exists && writes) &&
        !(reply.answer == Answer::unreachable && !in_time_))
      fail("an answer that no request can have");
    if (reply.answer == Answer::done &&
        request.operation == Operation::retrieve)
      check_value(reply, request.wanted);
  }

  static void check_value(const Reply &reply, uint32_t wanted) {
    if (reply.value.size < std::min(reply.size, wanted))
      fail("less of a value than was wanted");
    if (reply.size >= value_max)
      fail("a size that no value has");
    if (reply.value.size > 1 &&
        std::memcmp(reply.value.bytes, reply.value.bytes + 1,
                    reply.value.size - 1) != 0)
      fail("a value that nobody stored");
  }

  ValueStore &store_;
  const bool in_time_;
  std::mt19937 random_;
  Lent lent_;
  Bell bell_;
  std::vector<Request> requests_;
  std::vector<bool> busy_;
  std::vector<uint32_t> listed_;
  std::unique_ptr<Session> session_; ///< Closed before what it reaches.
};

/// Opens a session after the other; every third ends when all is answered.
void work(ValueStore &store, bool in_time, uint32_t thread, uint32_t rounds,
          std::atomic<uint64_t> &replies) {
  for (uint32_t round = 0; round < rounds; ++round) {
    Queue queue(store, in_time, round * threads + thread);
    uint64_t taken = 0;
    for (uint32_t turn = 0; turn < round % 7; ++turn) {
      queue.submit();
      taken += queue.poll();
    }
    queue.submit();
    while (round % 3 == 0 && !queue.idle())
      taken += queue.poll();
    replies += taken;
  }
}

uint64_t hammer(const xiokv_rados_config &config, bool in_time,
                uint32_t rounds) {
  RadosStore store{Place(config)};
  std::atomic<uint64_t> replies{0};
  std::vector<std::thread> workers;
  for (uint32_t thread = 0; thread < threads; ++thread)
    workers.emplace_back(work, std::ref(store), in_time, thread, rounds,
                         std::ref(replies));
  for (std::thread &worker : workers)
    worker.join();
  return replies;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 5)
    fail("usage: hammer CONF POOL NAMESPACE ROUNDS");
  const auto rounds = static_cast<uint32_t>(std::atoi(argv[4]));
  xiokv_rados_config config = {};
  config.struct_size = sizeof config;
  config.conf = argv[1];
  config.pool = argv[2];
  config.name_space = argv[3];
  config.connect_timeout_ms = 10000;
  config.timeout_ms = 30000;
  const uint64_t in_time = hammer(config, true, rounds);
  config.timeout_ms = 1;
  const uint64_t given_up = hammer(config, false, rounds);
  std::printf("%" PRIu64 " %" PRIu64 "\n", in_time, given_up);
}
