// SPDX-License-Identifier: MIT
/// @file
/// @brief One copy in a unit of its own: the words of operations, which the
/// linker joins where two copies have the same names, and the engine.
///
/// Before it: COPY, a macro that names what is of this copy; the headers.
#include "copies.h"

const char *COPY(word)(uint8_t opcode) {
  return xiokv::to_string(static_cast<xiokv::Operation>(opcode));
}

#ifdef ENGINE
int COPY(given_up)() {
  constexpr uint32_t window = 3, keys = 5;
  uint16_t tables[4096] = {0, 1, 2};
  xiokv_queue queue = {};
  queue.tables = reinterpret_cast<uint64_t>(tables);
  queue.sq_depth = queue.cq_depth = window + 1;
  queue.window = window;
  queue.state = XIOKV_QUEUE_DEAD;
  alignas(16) xiokv_stop stop = {};
  alignas(16) xiokv_words names[keys] = {};
  xiokv_batch_state state = {};
  xiokv_result results[keys] = {};
  xiokv_batch batch = {};
  batch.queues = reinterpret_cast<uint64_t>(&queue);
  batch.state = reinterpret_cast<uint64_t>(&state);
  batch.stop = reinterpret_cast<uint64_t>(&stop);
  batch.keys = reinterpret_cast<uint64_t>(names);
  batch.results = reinterpret_cast<uint64_t>(results);
  batch.count = batch.chunk = keys;
  batch.queue_count = 1;
  batch.key_length = 8;
  xiokv_run_batch<xiokv_op_exist>(batch, 0);
  int given_up = 0;
  for (const xiokv_result &result : results)
    given_up += result.outcome == XIOKV_OUTCOME_TIMEOUT;
  return given_up;
}
#endif
