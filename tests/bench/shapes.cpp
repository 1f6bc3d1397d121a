// SPDX-License-Identifier: MIT
/// @file
/// @brief Runs the baselines under the workgroup simulator, against a
/// controller that answers out of order or not at all.
///
///   shapes SHAPE FAULT FIRST COUNT    run seeds FIRST..FIRST+COUNT-1
///
/// SHAPE is reference, lean_reference or each; FAULT is none, reorder or drop.
/// Exit status 0 where every key got what belongs to it and the rings were left
/// in order, or, where completions are dropped, where the queue was given up in
/// time.
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "fibers.h"

extern "C" {
void xiokv_batch_reference(const xiokv_batch *batch, uint32_t number);
void xiokv_batch_lean_reference(const xiokv_batch *batch, uint32_t number);
void xiokv_batch_each(const xiokv_batch *batch, uint32_t number);
}

namespace {
using Kernel = void (*)(const xiokv_batch *, uint32_t);

constexpr uint64_t step_limit = 20000000;
constexpr uint32_t slot_bytes = 128;

struct alignas(16) Key {
  uint32_t words[4];
};

uint32_t size_of(uint32_t key) { return 1 + key * 37 % slot_bytes; }

/// A controller with values in it, queues, and batches that retrieve them.
class Trial {
public:
  Trial(uint64_t seed, uint32_t fault)
      : random_(seed), keys_(1 + below(150)), fault_(fault), bench_(config()),
        stored_(pages(), 1), landed_(pages(), 0) {
    const uint32_t depth = 2 + below(80);
    for (uint32_t qid = 1; qid <= 1 + below(2); ++qid)
      queues_.push_back(
          bench_.create(qid, {depth, depth, 1 + below(80), 1}, 1u << 16));
    for (uint32_t key = 0; key < keys_; ++key)
      store(key);
    add_fault();
  }

  void run(Kernel kernel) {
    for (int launch = 0; launch < 3 && !any_dead(); ++launch)
      check(retrieve(kernel));
    if (fault_ == XIOKV_EMU_DROP && !any_dead())
      throw Broken("a completion never came, and no queue was given up");
  }

private:
  xiokv_emu_config config() {
    xiokv_emu_config config = {};
    config.struct_size = sizeof config;
    config.seed = random_();
    return config;
  }

  uint32_t below(uint32_t bound) {
    return static_cast<uint32_t>(random_() % bound);
  }

  size_t pages() const { return keys_ * slot_bytes / XIOKV_PAGE_BYTES + 1; }

  bool any_dead() const {
    for (const xiokv_queue &queue : queues_)
      if (queue.state == XIOKV_QUEUE_DEAD)
        return true;
    return false;
  }

  void add_fault() {
    struct xiokv_emu_fault fault = {};
    fault.struct_size = sizeof fault;
    fault.kind = fault_;
    fault.amount = fault_ == XIOKV_EMU_REORDER ? 1 + below(40) : 0;
    fault.nth = fault_ == XIOKV_EMU_DROP ? 1 + below(keys_ / 2 + 1) : 0;
    if (fault_ != 0 && xiokv_emu_fault(bench_.emu(), &fault) != 0)
      throw Broken("the controller refused a fault");
  }

  Key key_of(uint32_t key) const { return {{key, ~key, key * 3, 7}}; }

  /// By hand, through the first queue: an entry, its doorbell, its completion.
  void store(uint32_t number) {
    xiokv_queue &queue = queues_[0];
    const Key key = key_of(number);
    const uint64_t prp = stored_.address() + uint64_t{number} * slot_bytes;
    const uint32_t size = size_of(number);
    char *sqe = reinterpret_cast<char *>(queue.sq) + 64 * queue.sq_tail;
    memset(sqe, 0, 64);
    sqe[0] = 1;
    sqe[4] = 1;
    memcpy(sqe + 8, key.words, 8);
    memcpy(sqe + 24, &prp, 8);
    memcpy(sqe + 40, &size, 4);
    sqe[44] = 16;
    memcpy(sqe + 56, key.words + 2, 8);
    queue.sq_tail = (queue.sq_tail + 1) % queue.sq_depth;
    ring(queue.sq_doorbell, queue.sq_tail);
    while (xiokv_emu_step(bench_.emu(), queue.qid) != 0)
      ;
    queue.cq_head = (queue.cq_head + 1) % queue.cq_depth;
    queue.cq_phase ^= queue.cq_head == 0 ? 1 : 0;
    ring(queue.cq_doorbell, queue.cq_head);
  }

  static void ring(uint64_t doorbell, uint32_t value) {
    *reinterpret_cast<uint32_t *>(doorbell) = value;
  }

  std::vector<xiokv_result> retrieve(Kernel kernel) {
    std::vector<Key> keys;
    for (uint32_t key = 0; key < keys_; ++key)
      keys.push_back(key_of(key));
    std::vector<xiokv_result> results(keys_);
    xiokv_batch batch = {};
    batch.queues = reinterpret_cast<uint64_t>(queues_.data());
    batch.queue_count = static_cast<uint32_t>(queues_.size());
    batch.keys = reinterpret_cast<uint64_t>(keys.data());
    batch.key_length = 16;
    batch.count = keys_;
    batch.results = reinterpret_cast<uint64_t>(results.data());
    batch.iova = landed_.address();
    batch.stride = batch.value_size = slot_bytes;
    batch.deadline = fault_ == XIOKV_EMU_DROP ? 100000 : step_limit;
    fibers::World world(random_(), SIMULATED_LANES, SIMULATED_WAVE);
    for (uint32_t number = 0; number < batch.queue_count; ++number)
      world.add([&batch, number, kernel] { kernel(&batch, number); });
    world.run(
        [&] {
          xiokv_emu_step(bench_.emu(), 1 + world.below(batch.queue_count));
        },
        step_limit);
    return results;
  }

  void check(const std::vector<xiokv_result> &results) const {
    if (any_dead())
      return;
    for (uint32_t key = 0; key < keys_; ++key)
      if (results[key].outcome != XIOKV_OUTCOME_OK ||
          results[key].value_size != size_of(key))
        throw Broken("key " + std::to_string(key) + ": outcome " +
                     std::to_string(results[key].outcome) + ", size " +
                     std::to_string(results[key].value_size));
  }

  std::mt19937_64 random_;
  const uint32_t keys_;
  const uint32_t fault_;
  Bench bench_;
  Pages stored_, landed_;
  std::vector<xiokv_queue> queues_;
};

Kernel kernel_of(const std::string &name) {
  if (name == "each")
    return xiokv_batch_each;
  return name == "reference" ? xiokv_batch_reference
                             : xiokv_batch_lean_reference;
}

uint32_t fault_of(const std::string &name) {
  if (name == "reorder")
    return XIOKV_EMU_REORDER;
  return name == "drop" ? static_cast<uint32_t>(XIOKV_EMU_DROP) : 0;
}
} // namespace

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: %s SHAPE FAULT FIRST COUNT\n", argv[0]);
    return 2;
  }
  const uint64_t first = strtoull(argv[3], nullptr, 10);
  const uint64_t count = strtoull(argv[4], nullptr, 10);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    try {
      Trial(seed, fault_of(argv[2])).run(kernel_of(argv[1]));
    } catch (const std::exception &fault) {
      printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
             fault.what());
      return 1;
    }
  }
  return 0;
}
