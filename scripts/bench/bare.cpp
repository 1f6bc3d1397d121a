// SPDX-License-Identifier: MIT
/// @file
/// @brief The plainest fast way to drive a queue pair: what the engine's speed
/// is compared with.
///
/// It takes the batches that the engine takes, so that both work on the same
/// queues and memory. It fills what the ring holds, rings once, counts
/// completions and checks nothing: no status, no CID, no result, no deadline,
/// and each value has to lie in one page. A CID is a place in the ring. Where it
/// finds nothing, it gives the core up as often as the engine does.

#include <sched.h>
#include <string.h>

#include <cstdint>

#include "xiokv/kv_abi.h"

namespace {

/// A submission queue entry, as one would write it down by hand.
struct Entry {
  uint8_t opcode;
  uint8_t flags;
  uint16_t cid;
  uint32_t nsid;
  uint64_t key_low;
  uint64_t metadata;
  uint64_t prp1;
  uint64_t prp2;
  uint32_t size;
  uint8_t key_length;
  uint8_t options;
  uint16_t reserved;
  uint64_t semantic;
  uint64_t key_high;
};
static_assert(sizeof(Entry) == 64, "an SQE has 64 bytes");

constexpr uint32_t polls_a_yield = 64;

/// Keys that one queue takes: a share of the batch, with no claims.
struct Share {
  uint32_t next;
  uint32_t end;
};

Share share(const xiokv_batch &batch, uint32_t number) {
  const uint64_t count = batch.count;
  return {static_cast<uint32_t>(count * number / batch.queue_count),
          static_cast<uint32_t>(count * (number + 1) / batch.queue_count)};
}

void fill(Entry &entry, const xiokv_queue &queue, const xiokv_batch &batch,
          uint8_t opcode, uint32_t index) {
  const uint64_t *key = reinterpret_cast<const uint64_t *>(batch.keys) +
                        2 * static_cast<uint64_t>(index);
  memset(&entry, 0, sizeof entry);
  entry.opcode = opcode;
  entry.cid = static_cast<uint16_t>(queue.sq_tail);
  entry.nsid = queue.nsid;
  entry.key_low = key[0];
  entry.key_high = key[1];
  entry.key_length = static_cast<uint8_t>(batch.key_length);
  entry.prp1 = batch.iova + batch.stride * index;
  entry.size = batch.value_size;
}

void ring(uint64_t doorbell, uint32_t value) {
  __atomic_store_n(reinterpret_cast<uint32_t *>(doorbell), value,
                   __ATOMIC_RELEASE);
}

/// Fill free places of the ring.
/// @return Commands that went out.
uint32_t submit(xiokv_queue &queue, const xiokv_batch &batch, uint8_t opcode,
                Share &left, uint32_t room) {
  Entry *entries = reinterpret_cast<Entry *>(queue.sq);
  uint32_t sent = 0;
  for (; left.next != left.end && sent != room; ++left.next, ++sent) {
    fill(entries[queue.sq_tail], queue, batch, opcode, left.next);
    if (++queue.sq_tail == queue.sq_depth)
      queue.sq_tail = 0;
  }
  if (sent != 0)
    ring(queue.sq_doorbell, queue.sq_tail);
  return sent;
}

/// Count the completions that are there.
uint32_t collect(xiokv_queue &queue, uint32_t in_flight) {
  const uint32_t *last = reinterpret_cast<const uint32_t *>(queue.cq) + 3;
  uint32_t taken = 0;
  while (taken != in_flight &&
         (__atomic_load_n(last + 4 * queue.cq_head, __ATOMIC_ACQUIRE) >> 16 &
          1) == queue.cq_phase) {
    ++taken;
    if (++queue.cq_head == queue.cq_depth) {
      queue.cq_head = 0;
      queue.cq_phase ^= 1;
    }
  }
  if (taken != 0)
    ring(queue.cq_doorbell, queue.cq_head);
  return taken;
}

void drive(const xiokv_batch &batch, uint32_t number, uint8_t opcode) {
  xiokv_queue &shared = reinterpret_cast<xiokv_queue *>(batch.queues)[number];
  xiokv_queue queue = shared;
  Share left = share(batch, number);
  uint32_t in_flight = 0;
  uint32_t idle = 0;
  while (left.next != left.end || in_flight != 0) {
    in_flight +=
        submit(queue, batch, opcode, left, queue.sq_depth - 1 - in_flight);
    const uint32_t taken = collect(queue, in_flight);
    in_flight -= taken;
    if (taken == 0 && ++idle % polls_a_yield == 0)
      sched_yield();
  }
  shared = queue;
}

} // namespace

extern "C" void bare_store(const xiokv_batch *batch, uint32_t number) {
  drive(*batch, number, 0x01);
}

extern "C" void bare_retrieve(const xiokv_batch *batch, uint32_t number) {
  drive(*batch, number, 0x02);
}
