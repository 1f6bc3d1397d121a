// SPDX-License-Identifier: MIT
/// @file
/// @brief Hosts on several threads, each with a queue pair, against one
/// controller that is disturbed meanwhile; made for sanitisers.
///
/// Usage: hammer faults|resets|late ROUNDS. A value is one byte, repeated, so
/// that a Retrieve that mixes two Stores shows. Rings and buffers are freed as
/// soon as their queue is deleted, so that a late access shows.
#include "emulator.h"
#include "late_store.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr uint32_t host_count = 3;
constexpr uint32_t depth = 16;
constexpr uint32_t cq_depth = 8;
constexpr uint32_t slots = 12;
constexpr uint32_t key_count = 8;
constexpr uint32_t page = 4096;
constexpr uint32_t value_max = 2 * page;

enum : uint8_t {
  op_store = 1,
  op_retrieve = 2,
  op_list = 6,
  op_delete = 0x10,
  op_exec = 0x83
};

[[noreturn]] void fail(const char *what) {
  std::fprintf(stderr, "hammer: %s\n", what);
  std::exit(1);
}

template <class Number> void put(uint8_t *to, Number number) {
  std::memcpy(to, &number, sizeof number);
}

/// An admin command; returns bits 15:1 of the status, or 8000h for no answer.
uint32_t admin(xiokv_emu *emu, uint8_t opcode, uint64_t prp1, uint32_t cdw10,
               uint32_t cdw11) {
  uint8_t sqe[64] = {opcode}, cqe[16];
  put(sqe + 24, prp1);
  put(sqe + 40, cdw10);
  put(sqe + 44, cdw11);
  if (xiokv_emu_admin(emu, sqe, cqe) != 0)
    return 0x8000;
  uint16_t status;
  std::memcpy(&status, cqe + 14, sizeof status);
  return status >> 1u;
}

struct Pages {
  explicit Pages(size_t bytes)
      : size((bytes + page - 1) / page * page),
        data(static_cast<uint8_t *>(std::aligned_alloc(page, size))) {
    std::memset(data, 0, size);
  }
  Pages(const Pages &) = delete;
  ~Pages() { std::free(data); }

  uint64_t iova() const { return reinterpret_cast<uint64_t>(data); }

  size_t size;
  uint8_t *data;
};

/// A queue pair and what it has in flight.
class Host {
public:
  Host(xiokv_emu *emu, uint32_t qid, uint64_t seed)
      : emu_(emu), qid_(qid), random_(seed) {
    auto *bar = static_cast<uint32_t *>(xiokv_emu_registers(emu));
    sq_doorbell_ = bar + 0x1000 / 4 + 2 * qid;
    cq_doorbell_ = sq_doorbell_ + 1;
    alive_ = admin(emu, 0x05, cq_.iova(), (cq_depth - 1) << 16 | qid, 1) == 0 &&
             admin(emu, 0x01, sq_.iova(), (depth - 1) << 16 | qid,
                   qid << 16 | 1) == 0;
  }

  ~Host() {
    admin(emu_, 0x00, 0, qid_, 0);
    admin(emu_, 0x04, 0, qid_, 0);
  }

  bool alive() const { return alive_; }
  bool idle() const { return in_flight_ == 0; }

  void submit() {
    for (uint32_t slot = 0; slot < slots; ++slot)
      if (opcode_[slot] == 0)
        submit(slot);
    __atomic_store_n(sq_doorbell_, tail_, __ATOMIC_RELEASE);
  }

  /// Takes what has come; returns how many commands are over.
  uint32_t poll() {
    uint32_t ended = 0;
    uint64_t half[2];
    while (new_entry(half)) {
      ended += complete(half) ? 1 : 0;
      head_ = (head_ + 1) % cq_depth;
      phase_ ^= head_ == 0;
      __atomic_store_n(cq_doorbell_, head_, __ATOMIC_RELEASE);
    }
    return ended;
  }

private:
  uint8_t *buffer(uint32_t slot) { return data_.data + slot * value_max; }

  void submit(uint32_t slot) {
    static constexpr uint8_t opcodes[] = {op_store, op_store,  op_retrieve,
                                          op_exec,  op_delete, op_list};
    const uint8_t opcode = opcodes[random_() % 6];
    const auto key = static_cast<uint8_t>(random_() % key_count);
    const uint32_t size = 4 + random_() % (value_max - 4);
    std::memset(buffer(slot), static_cast<int>(random_() % 256), value_max);
    opcode_[slot] = opcode;
    cid_[slot] = next_cid_++;
    uint8_t *sqe = sq_.data + 64 * tail_;
    std::memset(sqe, 0, 64);
    sqe[0] = opcode;
    put(sqe + 2, cid_[slot]);
    put(sqe + 4, uint32_t{1});
    if (opcode != op_delete) {
      put(sqe + 24, reinterpret_cast<uint64_t>(buffer(slot)));
      put(sqe + 32, reinterpret_cast<uint64_t>(buffer(slot) + page));
      put(sqe + 40, opcode == op_store ? size : value_max);
    }
    if (opcode == op_exec) {
      room_[slot] = random_() % 2 != 0 ? value_max : 3;
      ask_for_range(sqe, slot, key);
    } else {
      sqe[8] = key;
      sqe[44] = 1;
    }
    tail_ = (tail_ + 1) % depth;
    ++in_flight_;
  }

  /// A range of the value, which may begin and end anywhere.
  void ask_for_range(uint8_t *sqe, uint32_t slot, uint8_t key) {
    constexpr uint32_t payload_bytes = 2 + 1 + 16;
    uint8_t *payload = buffer(slot);
    put(payload, uint16_t{1});
    payload[2] = key;
    put(payload + 3, uint64_t{random_() % value_max});
    put(payload + 11, uint64_t{random_() % value_max});
    put(sqe + 40, payload_bytes);
    put(sqe + 48, room_[slot]);
    put(sqe + 52, uint32_t{3});
  }

  bool new_entry(uint64_t half[2]) const {
    const auto *entry =
        reinterpret_cast<const uint64_t *>(cq_.data + 16 * head_);
    half[1] = __atomic_load_n(entry + 1, __ATOMIC_ACQUIRE);
    half[0] = __atomic_load_n(entry, __ATOMIC_RELAXED);
    return (half[1] >> 48 & 1) == phase_;
  }

  bool complete(const uint64_t half[2]) {
    const auto cid = static_cast<uint16_t>(half[1] >> 32);
    const uint32_t sqid = half[1] >> 16 & 0xffff;
    const uint32_t status = half[1] >> 49 & 0x7fff;
    for (uint32_t slot = 0; slot < slots; ++slot) {
      if (sqid != qid_ || opcode_[slot] == 0 || cid_[slot] != cid)
        continue;
      check(slot, status, static_cast<uint32_t>(half[0]));
      opcode_[slot] = 0;
      --in_flight_;
      return true;
    }
    return false; // One that a fault added.
  }

  void check(uint32_t slot, uint32_t status, uint32_t dw0) {
    const bool ranges = opcode_[slot] == op_exec;
    const bool reads = opcode_[slot] == op_retrieve || ranges;
    if (status != 0 && !(status == 0x87 && reads))
      fail("a status that no command can have");
    if (status != 0 || !reads)
      return;
    if ((dw0 < 4 && !ranges) || dw0 > value_max)
      fail("a size that no value has");
    const uint32_t room = ranges ? room_[slot] : value_max;
    const uint32_t got = std::min(dw0, room);
    if (got != 0 && std::memcmp(buffer(slot), buffer(slot) + 1, got - 1) != 0)
      fail("a value that nobody stored");
  }

  xiokv_emu *emu_;
  uint32_t qid_;
  std::mt19937 random_;
  bool alive_;
  Pages sq_{64 * depth}, cq_{16 * cq_depth}, data_{slots * value_max};
  uint32_t *sq_doorbell_, *cq_doorbell_;
  uint32_t tail_ = 0, head_ = 0, phase_ = 1, in_flight_ = 0;
  uint16_t next_cid_ = 0;
  uint8_t opcode_[slots] = {};
  uint16_t cid_[slots] = {};
  uint32_t room_[slots] = {}; ///< Of an Exec's output.
};

/// Submits and polls until told to end, and then until all is answered.
void run_steadily(xiokv_emu *emu, uint32_t qid, const std::atomic<bool> &end,
                  std::atomic<uint64_t> &ended) {
  Host host(emu, qid, qid);
  if (!host.alive())
    fail("a queue pair could not be created");
  while (!end || !host.idle()) {
    if (!end)
      host.submit();
    ended += host.poll();
    std::this_thread::yield();
  }
}

/// Makes the queue pair again and again: resets take it away at any time.
void run_restarting(xiokv_emu *emu, uint32_t qid, const std::atomic<bool> &end,
                    std::atomic<uint64_t> &ended) {
  for (uint64_t seed = qid; !end; seed += host_count) {
    Host host(emu, qid, seed);
    for (int round = 0; round < 200 && host.alive() && !end; ++round) {
      host.submit();
      ended += host.poll();
      std::this_thread::yield();
    }
  }
}

struct xiokv_emu_fault fault(uint32_t kind, uint64_t amount,
                             uint32_t probability) {
  struct xiokv_emu_fault made = {};
  made.struct_size = sizeof made;
  made.kind = kind;
  made.amount = amount;
  made.probability = probability;
  return made;
}

void disturb_by_faults(xiokv_emu *emu, uint32_t round) {
  const struct xiokv_emu_fault faults[] = {
      fault(XIOKV_EMU_REORDER, 6, 0),
      fault(XIOKV_EMU_DELAY, 300, 100000),
      fault(XIOKV_EMU_DUPLICATE, 200, 100000),
      fault(XIOKV_EMU_UNKNOWN_CID, 0, 50000),
      fault(XIOKV_EMU_FOREIGN_SQID, 0, 50000),
      fault(XIOKV_EMU_STALL, 500, 1000),
      fault(XIOKV_EMU_REVERSE, 4, 0)};
  if (round % 8 == 7)
    xiokv_emu_clear_faults(emu);
  else if (xiokv_emu_fault(emu, &faults[round % 8]) != 0)
    fail("a fault was refused");
}

void disturb_by_resets(xiokv_emu *emu, uint32_t round) {
  auto *cc = static_cast<uint32_t *>(xiokv_emu_registers(emu)) + 0x14 / 4;
  if (round % 4 == 0) {
    __atomic_fetch_and(cc, ~1u, __ATOMIC_RELEASE);
    std::this_thread::yield();
    __atomic_fetch_or(cc, 1u, __ATOMIC_RELEASE);
  } else if (round % 4 == 1) {
    xiokv_emu_kill(emu, round % 3);
  } else {
    xiokv_emu_reset(emu);
  }
}

/// What an onlooker does meanwhile: counters, traces, Identify, a pause.
void look_on(xiokv_emu *emu, uint32_t round, Pages &memory) {
  struct xiokv_emu_counters counters;
  xiokv_emu_counters(emu, &counters);
  if (round % 3 == 0)
    xiokv_emu_trace_start(emu, round % 2 * 100);
  std::vector<xiokv_emu_trace> records(64);
  xiokv_emu_trace_read(emu, records.data(), records.size());
  admin(emu, 0x06, memory.iova(), 1, 0);
  if (round % 10 == 0) {
    xiokv_emu_stop(emu);
    if (xiokv_emu_start(emu) != 0)
      fail("the threads could not be started");
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    fail("usage: hammer faults|resets|late ROUNDS");
  if (std::string(argv[1]) == "late") {
    check_late_store();
    return 0;
  }
  const bool resets = std::string(argv[1]) == "resets";
  xiokv_emu_config config = {};
  config.struct_size = sizeof config;
  config.queues = host_count;
  config.threads = 2;
  config.flags = XIOKV_EMU_STRICT | XIOKV_EMU_HASHED_LIST |
                 XIOKV_EMU_WRAP_LIST | XIOKV_EMU_EXEC;
  char error[200];
  xiokv_emu *emu = xiokv_emu_create(&config, error, sizeof error);
  if (!emu || xiokv_emu_start(emu) != 0)
    fail("no controller");
  {
    std::atomic<bool> end{false};
    std::atomic<uint64_t> ended{0};
    std::vector<std::thread> hosts;
    for (uint32_t qid = 1; qid <= host_count; ++qid)
      hosts.emplace_back(resets ? run_restarting : run_steadily, emu, qid,
                         std::cref(end), std::ref(ended));
    Pages memory(page);
    const auto rounds = static_cast<uint32_t>(std::atoi(argv[2]));
    for (uint32_t round = 0; round < rounds; ++round) {
      (resets ? disturb_by_resets : disturb_by_faults)(emu, round);
      look_on(emu, round, memory);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    xiokv_emu_clear_faults(emu);
    end = true;
    for (std::thread &host : hosts)
      host.join();
    std::printf("%llu\n", static_cast<unsigned long long>(ended));
  }
  xiokv_emu_destroy(emu);
}
