// SPDX-License-Identifier: MIT
/// @file
/// @brief A controller that makes completions up, for commands that are in
/// flight, have not been sent yet, or never will be: results go to keys of the
/// batch alone.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <exception>
#include <vector>

#include "fiber_workgroups.h"

namespace {
constexpr uint32_t depth = 16;
constexpr uint32_t keys = 60;
constexpr uint64_t patience = 1000000;

template <class Type> uint64_t address(Type *pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

/// One queue, its rings, and a batch on it.
struct Forgery {
  explicit Forgery(uint32_t window)
      : window(window), tables(XIOKV_TABLE_BYTES(window) / 8 + 1) {
    memset(tables.data(), 0xa5, tables.size() * 8);
    uint16_t *free_ring = reinterpret_cast<uint16_t *>(tables.data());
    for (uint32_t slot = 0; slot < window; ++slot)
      free_ring[slot] = static_cast<uint16_t>(slot);
    queue.sq = address(sq);
    queue.cq = address(cq);
    queue.sq_doorbell = address(&doorbells[0]);
    queue.cq_doorbell = address(&doorbells[1]);
    queue.tables = address(tables.data());
    queue.sq_depth = queue.cq_depth = depth;
    queue.window = window;
    queue.qid = queue.nsid = queue.cq_phase = 1;
    batch.queues = address(&queue);
    batch.state = address(&state);
    batch.stop = address(&stop);
    batch.keys = address(rows);
    batch.results = address(results.data());
    batch.deadline = patience;
    batch.count = batch.chunk = keys;
    batch.queue_count = 1;
    batch.key_length = 16;
  }

  /// Posts an entry for any slot, unless the ring is full.
  void forge(uint32_t any) {
    const uint32_t next = (tail + 1) % depth;
    if (next == doorbells[1])
      return;
    const uint32_t entry[] = {0, 0, 1u << 16, phase << 16 | any % window};
    memcpy(cq[tail], entry, sizeof entry);
    tail = next;
    phase ^= tail == 0 ? 1u : 0u;
  }

  /// The table of slots' keys follows that of the live ones.
  bool keys_are_of_the_batch() const {
    const uint32_t *key = reinterpret_cast<const uint32_t *>(
                              reinterpret_cast<const char *>(tables.data()) +
                              XIOKV_RING_BYTES(window)) +
                          window;
    return std::all_of(key, key + window,
                       [](uint32_t index) { return index < keys; });
  }

  uint32_t window;
  uint32_t sq[depth][16] = {}, cq[depth][4] = {}, doorbells[2] = {};
  uint32_t tail = 0, phase = 1;
  std::vector<uint64_t> tables;
  alignas(16) uint64_t rows[keys][2] = {};
  std::vector<xiokv_result> results = std::vector<xiokv_result>(keys);
  alignas(16) xiokv_stop stop = {};
  xiokv_queue queue = {};
  xiokv_batch_state state = {};
  xiokv_batch batch = {};
};

/// Returns how many keys ended as found.
uint32_t forge_all(uint32_t window, uint64_t seed) {
  FiberWorkgroups workgroups;
  Forgery forgery(window);
  std::mt19937_64 random(seed);
  workgroups.run("exist", forgery.batch, seed,
                 [&] { forgery.forge(static_cast<uint32_t>(random())); });
  uint32_t found = 0;
  for (const xiokv_result &result : forgery.results) {
    if (result.outcome != XIOKV_OUTCOME_OK &&
        result.outcome != XIOKV_OUTCOME_TIMEOUT)
      throw std::runtime_error("a key has no outcome");
    found += result.outcome == XIOKV_OUTCOME_OK ? 1u : 0u;
  }
  if (window > SIMULATED_SHARED_WINDOW && !forgery.keys_are_of_the_batch())
    throw std::runtime_error("a slot has a key that is not of the batch");
  return found;
}
} // namespace

int main(int, char **arguments) {
  const uint32_t window = static_cast<uint32_t>(atoi(arguments[1]));
  uint32_t found = 0;
  try {
    for (uint64_t seed = 1; seed <= 20; ++seed)
      found += forge_all(window, seed);
  } catch (const std::exception &fault) {
    printf("%s\n", fault.what());
    return 1;
  }
  printf("{\"found\": %u}\n", found);
  return 0;
}
