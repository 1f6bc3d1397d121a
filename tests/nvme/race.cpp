// SPDX-License-Identifier: MIT
/// @file
/// @brief Queue pairs that are created, used and deleted by two hosts at once,
/// over a call that answers at once. Exit code 0 where every command came back.

#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "../../runtime/nvme/passthrough.h"

namespace {

constexpr uint32_t depth = 8;
constexpr uint32_t rounds = 20;
constexpr uint32_t commands = 200;

int answer(int, unsigned long, void *) { return 0x87; }

struct alignas(4096) Rings {
  uint32_t sq[depth][16] = {};
  uint32_t cq[depth][4] = {};
};

uint32_t *doorbell(xiokv_pass *pass, uint32_t qid, uint32_t which) {
  return reinterpret_cast<uint32_t *>(xiokv_pass_doorbells(pass) +
                                      64 * (2 * qid + which));
}

/// As it is written: its half of the entry at once.
uint32_t dword3(const Rings &rings, uint32_t slot) {
  const uint64_t *half = reinterpret_cast<const uint64_t *>(rings.cq[slot]) + 1;
  return static_cast<uint32_t>(__atomic_load_n(half, __ATOMIC_ACQUIRE) >> 32);
}

/// Keeps the ring as full as it goes; returns how many came back as they
/// should.
uint32_t use(xiokv_pass *pass, uint32_t qid, Rings &rings) {
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

xiokv_pass_queue queue_of(const Rings &rings, uint32_t qid) {
  return {reinterpret_cast<uint64_t>(rings.sq),
          reinterpret_cast<uint64_t>(rings.cq),
          qid,
          depth,
          depth,
          0};
}

uint32_t host(xiokv_pass *pass, uint32_t qid) {
  uint32_t right = 0;
  for (uint32_t round = 0; round < rounds; ++round) {
    Rings rings;
    const xiokv_pass_queue made = queue_of(rings, qid);
    if (xiokv_pass_create_queue(pass, &made) == 0)
      right += use(pass, qid, rings);
    xiokv_pass_delete_queue(pass, qid);
  }
  return right;
}

/// The rings go right after the end, as a host's do.
bool stops_amid_commands(xiokv_pass *pass) {
  {
    Rings rings;
    const xiokv_pass_queue made = queue_of(rings, 1);
    if (xiokv_pass_create_queue(pass, &made) != 0)
      return false;
    __atomic_store_n(doorbell(pass, 1, 0), depth - 1, __ATOMIC_RELEASE);
    std::thread other([&] { xiokv_pass_delete_queue(pass, 1); });
    xiokv_pass_stop(pass);
    other.join();
  }
  Rings rings;
  const xiokv_pass_queue made = queue_of(rings, 2);
  xiokv_pass_stop(pass);
  return xiokv_pass_create_queue(pass, &made) != 0;
}

} // namespace

int main() {
  const xiokv_pass_config config = {sizeof config, -1, 7, 4, 2, 0, answer};
  char error[100] = "";
  xiokv_pass *pass = xiokv_pass_create(&config, error, sizeof error);
  uint32_t right[2] = {};
  std::thread other([&] { right[1] = host(pass, 2); });
  right[0] = host(pass, 1);
  other.join();
  const bool stopped = stops_amid_commands(pass);
  xiokv_pass_destroy(pass);
  printf("%u %u%s\n", right[0], right[1], error);
  return stopped && right[0] == rounds * commands &&
                 right[1] == rounds * commands
             ? 0
             : 1;
}
