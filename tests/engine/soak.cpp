// SPDX-License-Identifier: MIT
/// @file
/// @brief The engine as the host runs it, a thread a queue, against the
/// controller's worker threads: for sanitizers, and for rings that wrap often.
///
///   soak KEYS QUEUES DEPTH WINDOW SIZE FAULTS
///
/// Stores KEYS values of up to SIZE bytes and retrieves them; exit status 0
/// where every result and every byte was right.
#include <stdio.h>
#include <stdlib.h>

#include <thread>

#include "bench.h"

extern "C" {
void xiokv_batch_store(const xiokv_batch *batch, uint32_t number);
void xiokv_batch_retrieve(const xiokv_batch *batch, uint32_t number);
}

namespace {
using Kernel = void (*)(const xiokv_batch *, uint32_t);

struct alignas(16) Key {
  uint32_t words[4];
};

struct Options {
  uint32_t keys, queues, depth, window, size, faults;
};

uint32_t size_of(const Options &options, uint32_t key) {
  return options.size == 0 ? 0 : 1 + key * 2654435761u % options.size;
}

char byte_of(uint32_t key, uint32_t at) {
  return static_cast<char>((key * 2654435761u + at * 40503u) >> 13);
}

void add_fault(xiokv_emu *emu, uint32_t kind, uint64_t amount,
               uint32_t probability) {
  struct xiokv_emu_fault fault = {};
  fault.struct_size = sizeof fault;
  fault.kind = kind;
  fault.amount = amount;
  fault.probability = probability;
  if (xiokv_emu_fault(emu, &fault) != 0)
    throw Broken("the controller refused a fault");
}

/// Runs one batch to its end, a thread a queue.
std::vector<xiokv_result> run(const Options &options, Kernel kernel,
                              std::vector<xiokv_queue> &queues, char *values) {
  std::vector<Key> keys(options.keys);
  std::vector<uint32_t> sizes(options.keys);
  std::vector<xiokv_result> results(options.keys);
  for (uint32_t i = 0; i < options.keys; ++i) {
    keys[i] = {{i, ~i, i * 3, 7}};
    sizes[i] = size_of(options, i);
  }
  xiokv_batch_state state = {};
  alignas(16) xiokv_stop stop = {};
  xiokv_batch batch = {};
  batch.queues = reinterpret_cast<uint64_t>(queues.data());
  batch.state = reinterpret_cast<uint64_t>(&state);
  batch.stop = reinterpret_cast<uint64_t>(&stop);
  batch.keys = reinterpret_cast<uint64_t>(keys.data());
  batch.sizes = reinterpret_cast<uint64_t>(sizes.data());
  batch.results = reinterpret_cast<uint64_t>(results.data());
  batch.iova = reinterpret_cast<uint64_t>(values);
  batch.stride = (options.size + 3) / 4 * 4;
  batch.deadline = 60ull * 1000000000u;
  batch.count = options.keys;
  batch.queue_count = static_cast<uint32_t>(queues.size());
  batch.chunk = 64;
  batch.key_length = 16;
  std::vector<std::thread> threads;
  for (uint32_t number = 0; number < batch.queue_count; ++number)
    threads.emplace_back(kernel, &batch, number);
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

void check(const Options &options, const std::vector<xiokv_result> &results,
           const char *values, bool retrieved) {
  const uint64_t stride = (options.size + 3) / 4 * 4;
  for (uint32_t i = 0; i < options.keys; ++i) {
    const uint32_t size = size_of(options, i);
    if (results[i].outcome != XIOKV_OUTCOME_OK ||
        (retrieved && results[i].value_size != size))
      throw Broken("key " + std::to_string(i) + ": outcome " +
                   std::to_string(results[i].outcome) + ", size " +
                   std::to_string(results[i].value_size));
    for (uint32_t at = 0; at < size; ++at)
      if (values[i * stride + at] != byte_of(i, at))
        throw Broken("key " + std::to_string(i) + ": byte " +
                     std::to_string(at) + " is wrong");
  }
}

void soak(const Options &options) {
  xiokv_emu_config config = {};
  config.struct_size = sizeof config;
  config.flags = XIOKV_EMU_STRICT;
  config.threads = 2;
  Bench bench(config);
  std::vector<xiokv_queue> queues;
  for (uint32_t i = 1; i <= options.queues; ++i)
    queues.push_back(bench.create(
        i, {options.depth, options.depth, options.window, 1}, 1u << 20));
  if (options.faults != 0) {
    add_fault(bench.emu(), XIOKV_EMU_REORDER, 16, 0);
    add_fault(bench.emu(), XIOKV_EMU_DUPLICATE, 0, 50000);
    add_fault(bench.emu(), XIOKV_EMU_FOREIGN_SQID, 0, 50000);
    add_fault(bench.emu(), XIOKV_EMU_UNKNOWN_CID, 0, 50000);
  }
  const uint64_t stride = (options.size + 3) / 4 * 4;
  const size_t pages = options.keys * stride / XIOKV_PAGE_BYTES + 1;
  Pages stored(pages, 0), landed(pages, Buffer::poison);
  for (uint32_t i = 0; i < options.keys; ++i)
    for (uint32_t at = 0; at < size_of(options, i); ++at)
      stored.data()[i * stride + at] = byte_of(i, at);
  xiokv_emu_start(bench.emu());
  check(options, run(options, xiokv_batch_store, queues, stored.data()),
        stored.data(), false);
  check(options, run(options, xiokv_batch_retrieve, queues, landed.data()),
        landed.data(), true);
  xiokv_emu_stop(bench.emu());
  for (const xiokv_queue &queue : queues)
    if (queue.report.submitted != queue.report.completed)
      throw Broken("queue " + std::to_string(queue.qid) +
                   " submitted more than it completed");
}
} // namespace

int main(int argc, char **argv) {
  if (argc != 7) {
    fprintf(stderr, "usage: %s KEYS QUEUES DEPTH WINDOW SIZE FAULTS\n", *argv);
    return 2;
  }
  uint32_t numbers[6];
  for (int i = 0; i < 6; ++i)
    numbers[i] = static_cast<uint32_t>(strtoul(argv[i + 1], nullptr, 10));
  try {
    soak({numbers[0], numbers[1], numbers[2], numbers[3], numbers[4],
          numbers[5]});
  } catch (const std::exception &fault) {
    printf("%s\n", fault.what());
    return 1;
  }
  return 0;
}
