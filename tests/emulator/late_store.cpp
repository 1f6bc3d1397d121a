// SPDX-License-Identifier: MIT
#include "late_store.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "submission_queue.h"

namespace {

using namespace xiokv::emulator;

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      std::fprintf(stderr, "late store, line %d: %s\n", __LINE__, #condition); \
      std::exit(1);                                                            \
    }                                                                          \
  } while (false)

/// Every value is its key's first byte, 4 times; 'x' cannot be read.
Reply answer_to(const Request &request) {
  Reply reply;
  reply.token = request.token;
  if (request.key.bytes[0] == 'x')
    reply.answer = Answer::failed;
  const std::shared_ptr<uint8_t[]> bytes(new uint8_t[4]);
  std::memset(bytes.get(), request.key.bytes[0], 4);
  reply.value = {bytes.get(), 4, bytes};
  reply.size = 4;
  return reply;
}

/// Answers the youngest request first, and only those that it was allowed to.
class LateSession : public Session {
public:
  LateSession(std::vector<Request *> &open, uint32_t &allowed)
      : open_(open), allowed_(allowed) {}

  ~LateSession() override {
    for (const Request *request : open_)
      CHECK(request->operation == Operation::retrieve); // they still exist
    open_.clear();
  }

  void submit(Request &request) override { open_.push_back(&request); }

  bool poll(Reply &reply) override {
    if (allowed_ == 0 || open_.empty())
      return false;
    --allowed_;
    reply = answer_to(*open_.back());
    open_.pop_back();
    return true;
  }

private:
  std::vector<Request *> &open_;
  uint32_t &allowed_;
};

class LateStore : public ValueStore {
public:
  std::unique_ptr<Session> open(Wake) override {
    return std::make_unique<LateSession>(open_requests, allowed);
  }
  Usage usage() const override { return {}; }

  std::vector<Request *> open_requests;
  uint32_t allowed = 0;
};

/// A queue pair with a Retrieve of 4 bytes for each key.
struct Bench {
  static constexpr uint32_t depth = 8;

  explicit Bench(const char *keys) {
    for (uint32_t i = 0; keys[i] != 0; ++i) {
      uint8_t *sqe = memory + 64 * i;
      sqe[0] = 2;
      sqe[2] = static_cast<uint8_t>(i);
      sqe[4] = 1;
      sqe[8] = static_cast<uint8_t>(keys[i]);
      const uint64_t buffer = reinterpret_cast<uint64_t>(data + 4 * i);
      std::memcpy(sqe + 24, &buffer, sizeof buffer);
      sqe[40] = 4;
      sqe[44] = 1;
      tail = i + 1;
    }
  }

  void allow(uint32_t replies) {
    store.allowed = replies;
    queue->serve();
  }

  uint8_t cid(uint32_t index) const { return memory[cq_at + 16 * index + 12]; }
  bool is_posted(uint32_t index) const {
    return (memory[cq_at + 16 * index + 14] & 1) != 0;
  }
  uint32_t status(uint32_t index) const {
    return load<uint16_t>(memory + cq_at + 16 * index + 14) >> 1u;
  }

  static constexpr size_t cq_at = 64 * depth;
  alignas(64) uint8_t memory[cq_at + 16 * depth] = {};
  alignas(8) uint8_t data[32] = {};
  uint32_t tail = 0, head = 0;
  LateStore store;

  Config config = [] {
    xiokv_emu_config given = {};
    given.struct_size = sizeof given;
    Config made;
    std::string error;
    CHECK(complete(given, made, error));
    return made;
  }();
  Dma dma;
  Trace trace;
  Namespace space{config, dma, store, [](uint32_t) {}, {false}};
  CompletionQueue cq{
      {reinterpret_cast<uint64_t>(memory + cq_at), depth}, &head, dma, trace};
  std::unique_ptr<SubmissionQueue> queue = std::make_unique<SubmissionQueue>(
      uint16_t{1}, Ring{reinterpret_cast<uint64_t>(memory), depth}, &tail, cq,
      space, store.open({}), trace);
};

void check_late_and_out_of_order() {
  Bench bench("abc");
  bench.allow(0);
  CHECK(bench.store.open_requests.size() == 3 && !bench.is_posted(0));
  bench.allow(1);
  CHECK(bench.is_posted(0) && bench.cid(0) == 2 && !bench.is_posted(1));
  CHECK(std::memcmp(bench.data, "\0\0\0\0\0\0\0\0cccc", 12) == 0);
  bench.allow(2);
  CHECK(bench.cid(1) == 1 && bench.cid(2) == 0 && !bench.is_posted(3));
  CHECK(std::memcmp(bench.data, "aaaabbbbcccc", 12) == 0);
}

void check_failure() {
  Bench bench("x");
  bench.allow(1);
  CHECK(bench.is_posted(0) && bench.status(0) == 0x88);
}

void check_end_with_requests_open() {
  Bench bench("abcd");
  bench.allow(1);
  CHECK(bench.store.open_requests.size() == 3);
  bench.queue.reset();
  CHECK(bench.store.open_requests.empty());
}

} // namespace

void check_late_store() {
  check_late_and_out_of_order();
  check_failure();
  check_end_with_requests_open();
}
