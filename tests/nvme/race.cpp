// SPDX-License-Identifier: MIT
/// @file
/// @brief Queue pairs that are created, used and deleted by two hosts at once,
/// over a call that answers at once. Exit code 0 where every command came back.

#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "../../runtime/nvme/controller.h"

namespace {

using xiokv::passthrough::Controller;
using xiokv::passthrough::Made;

constexpr uint32_t depth = 8;
constexpr uint32_t rounds = 20;
constexpr uint32_t commands = 200;

int answer(int, unsigned long, void *) { return 0x87; }

struct alignas(4096) Rings {
  uint32_t sq[depth][16] = {};
  uint32_t cq[depth][4] = {};
};

uint32_t *doorbell(Controller &pass, uint32_t qid, uint32_t which) {
  return reinterpret_cast<uint32_t *>(pass.doorbells() +
                                      64 * (2 * qid + which));
}

/// As it is written: its half of the entry at once.
uint32_t dword3(const Rings &rings, uint32_t slot) {
  const uint64_t *half = reinterpret_cast<const uint64_t *>(rings.cq[slot]) + 1;
  return static_cast<uint32_t>(__atomic_load_n(half, __ATOMIC_ACQUIRE) >> 32);
}

/// Keeps the ring as full as it goes; returns how many came back as they
/// should.
uint32_t use(Controller &pass, uint32_t qid, Rings &rings) {
  uint32_t sent = 0, taken = 0, right = 0, phase = 1;
  while (taken < commands) {
    while (sent < commands && sent - taken < depth - 1) {
      uint32_t *sqe = rings.sq[sent % depth];
      sqe[0] = 0x14 | sent << 16;
      sqe[1] = 1;
      ++sent;
      __atomic_store_n(doorbell(pass, qid, 0), sent % depth, __ATOMIC_RELEASE);
    }
    const uint32_t slot = taken % depth;
    if ((dword3(rings, slot) >> 16 & 1) != phase) {
      std::this_thread::yield();
      continue;
    }
    right += dword3(rings, slot) >> 17 == 0x87 ? 1 : 0;
    ++taken;
    phase ^= taken % depth == 0 ? 1 : 0;
    __atomic_store_n(doorbell(pass, qid, 1), taken % depth, __ATOMIC_RELEASE);
  }
  return right;
}

Made made_of(const Rings &rings, uint32_t qid) {
  return {reinterpret_cast<uint64_t>(rings.sq),
          reinterpret_cast<uint64_t>(rings.cq), qid, depth, depth};
}

uint32_t host(Controller &pass, uint32_t qid) {
  uint32_t right = 0;
  for (uint32_t round = 0; round < rounds; ++round) {
    Rings rings;
    if (pass.create_queue(made_of(rings, qid)))
      right += use(pass, qid, rings);
    pass.delete_queue(qid);
  }
  return right;
}

/// The rings go right after the end, as a host's do.
bool stops_amid_commands(Controller &pass) {
  {
    Rings rings;
    if (!pass.create_queue(made_of(rings, 1)))
      return false;
    __atomic_store_n(doorbell(pass, 1, 0), depth - 1, __ATOMIC_RELEASE);
    std::thread other([&] { pass.delete_queue(1); });
    pass.stop();
    other.join();
  }
  Rings rings;
  pass.stop();
  return !pass.create_queue(made_of(rings, 2));
}

} // namespace

int main() {
  uint32_t right[2] = {};
  bool stopped = false;
  {
    Controller pass({-1, 7, 4, 2, 0, answer});
    std::thread other([&] { right[1] = host(pass, 2); });
    right[0] = host(pass, 1);
    other.join();
    stopped = stops_amid_commands(pass);
  }
  printf("%u %u\n", right[0], right[1]);
  return stopped && right[0] == rounds * commands &&
                 right[1] == rounds * commands
             ? 0
             : 1;
}
