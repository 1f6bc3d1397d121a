// SPDX-License-Identifier: MIT
/// @file
/// @brief Retrieves by the CPU with copies to a GPU: one thread drives all
/// queues and starts the copies, so that one core does all that the GPU does
/// by itself otherwise.
#include "copying.h"

#include <chrono>
#include <deque>

#include "client.h"

namespace {

using xiokv::bench::Client;
using Clock = std::chrono::steady_clock;

constexpr uint8_t op_retrieve = 0x02;

/// Values [first, first + count) to their places.
bool copy_values(const xiokv_batch &batch, const bench_copier &copier,
                 uint64_t first, uint64_t count) {
  const uint64_t at = first * batch.stride;
  return copier.copy(copier.to + at,
                     reinterpret_cast<const void *>(batch.iova + at),
                     count * batch.value_size, copier.stream) == 0;
}

/// Take what has come on one queue, and start its copies.
bool advance(Client &client, const xiokv_batch &batch,
             const bench_copier &copier) {
  const uint64_t first = client.oldest();
  const uint32_t taken = client.step();
  bool copied = true;
  if (copier.per_value)
    for (uint32_t i = 0; i < taken; ++i)
      copied = copied && copy_values(batch, copier, first + i, 1);
  return copied;
}

bool run(const xiokv_batch &batch, const bench_copier &copier) {
  std::deque<Client> clients;
  for (uint32_t number = 0; number < batch.queue_count; ++number)
    clients.emplace_back(batch, number, op_retrieve);
  bool copied = true;
  for (bool busy = true; busy;) {
    busy = false;
    for (Client &client : clients) {
      if (client.done())
        continue;
      busy = true;
      copied = advance(client, batch, copier) && copied;
    }
  }
  for (const Client &client : clients)
    client.save();
  if (!copier.per_value)
    copied = copy_values(batch, copier, 0, batch.count);
  return copier.wait(copier.stream) == 0 && copied;
}

} // namespace

/// @brief Retrieve values that lie side by side, and copy them to a GPU.
/// @return Seconds until the last is there; below 0 where a copy failed.
extern "C" double bench_copied(const xiokv_batch *batch,
                               const bench_copier *copier) {
  const Clock::time_point begin = Clock::now();
  const bool copied = run(*batch, *copier);
  const std::chrono::duration<double> seconds = Clock::now() - begin;
  return copied ? seconds.count() : -1.0;
}
