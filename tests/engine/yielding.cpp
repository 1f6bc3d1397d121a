// SPDX-License-Identifier: MIT
/// @file
/// @brief The host engine on one thread, whose controller runs only when it
/// gives the core up, or never. Prints what became of the keys.

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "../kernels/kv_kernels.cpp"

namespace {

constexpr uint32_t depth = 8;
constexpr uint32_t keys = 10;
constexpr uint32_t share = keys / 2;

uint32_t sq[depth][16];
uint32_t cq[depth][4];
uint32_t doorbells[2];
uint32_t sq_head, cq_tail;
uint32_t phase = 1;
bool silent = false;

void answer() {
  const uint32_t cid = sq[sq_head][0] >> 16;
  sq_head = (sq_head + 1) % depth;
  cq[cq_tail][2] = 1u << 16 | sq_head;
  cq[cq_tail][3] = phase << 16 | cid;
  cq_tail = (cq_tail + 1) % depth;
  phase ^= cq_tail == 0 ? 1 : 0;
}

template <class Type> uint64_t address(Type *pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

} // namespace

/// In place of the system's: the controller's turn.
extern "C" int sched_yield() noexcept {
  while (!silent && sq_head != doorbells[0])
    answer();
  return 0;
}

/// One queue of a batch, on the calling thread.
struct Batch {
  std::vector<uint64_t> tables;
  std::vector<xiokv_words> rows, stop;
  std::vector<xiokv_result> results;
  xiokv_queue queue = {};
  xiokv_batch_state state = {};
  xiokv_batch batch = {};

  Batch(uint32_t queues, uint32_t chunk, uint64_t deadline)
      : tables(XIOKV_TABLE_BYTES(depth - 1) / 8 + 1), rows(keys), stop(1),
        results(keys) {
    uint16_t *free_ring = reinterpret_cast<uint16_t *>(tables.data());
    for (uint16_t slot = 0; slot < depth - 1; ++slot)
      free_ring[slot] = slot;
    queue.sq = address(sq);
    queue.cq = address(cq);
    queue.sq_doorbell = address(&doorbells[0]);
    queue.cq_doorbell = address(&doorbells[1]);
    queue.tables = address(tables.data());
    queue.sq_depth = queue.cq_depth = depth;
    queue.window = depth - 1;
    queue.qid = queue.nsid = queue.cq_phase = 1;
    batch.queues = address(&queue);
    batch.state = address(&state);
    batch.stop = address(stop.data());
    batch.keys = address(rows.data());
    batch.results = address(results.data());
    batch.deadline = deadline;
    batch.count = keys;
    batch.queue_count = queues;
    batch.chunk = chunk;
    batch.key_length = 16;
    xiokv_batch_exist(&batch, 0);
  }

  long count(xiokv_outcome outcome) const {
    return std::count_if(
        results.begin(), results.end(),
        [&](const xiokv_result &result) { return result.outcome == outcome; });
  }
};

int main(int, char **arguments) {
  const std::string name = arguments[1];
  if (name == "yields") {
    const Batch batch(1, keys, 2000000000);
    printf("%ld OK\n", batch.count(XIOKV_OUTCOME_OK));
  } else {
    silent = true;
    const Batch batch(2, share, 2000000);
    printf("%ld TIMEOUT, %ld untouched\n", batch.count(XIOKV_OUTCOME_TIMEOUT),
           batch.count(XIOKV_OUTCOME_NONE));
  }
  return 0;
}
