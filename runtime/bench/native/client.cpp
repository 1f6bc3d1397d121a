// SPDX-License-Identifier: MIT
#include "client.h"

#include <sched.h>

#include <algorithm>
#include <cstring>

#include "xiokv/kv_prp.h"

namespace xiokv::bench {

namespace {

constexpr uint8_t op_store = 0x01;
constexpr uint8_t op_retrieve = 0x02;

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

uint32_t share(const xiokv_batch &batch, uint32_t number) {
  return static_cast<uint32_t>(uint64_t{batch.count} * number /
                               batch.queue_count);
}

void ring(uint64_t doorbell, uint32_t value) {
  __atomic_store_n(reinterpret_cast<uint32_t *>(doorbell), value,
                   __ATOMIC_RELEASE);
}

void drive(const xiokv_batch &batch, uint32_t number, uint8_t opcode) {
  Client client(batch, number, opcode);
  for (Idle idle; !client.done();)
    if (client.step() == 0)
      idle.wait();
  client.save();
}

} // namespace

Client::Client(const xiokv_batch &batch, uint32_t number, uint8_t opcode)
    : batch_(batch),
      stored_(reinterpret_cast<xiokv_queue *>(batch.queues)[number]),
      queue_(stored_), opcode_(opcode),
      limit_(
          std::min({queue_.sq_depth - 1, queue_.cq_depth - 1, queue_.window})),
      next_(share(batch, number)), end_(share(batch, number + 1)) {}

uint32_t Client::step() {
  submit();
  return collect();
}

void Client::save() const { stored_ = queue_; }

void Client::submit() {
  const uint32_t count = std::min(end_ - next_, limit_ - in_flight_);
  char *ring_start = reinterpret_cast<char *>(queue_.sq);
  for (uint32_t i = 0; i < count; ++i, ++next_) {
    fill(ring_start + sizeof(Entry) * queue_.sq_tail);
    if (++queue_.sq_tail == queue_.sq_depth)
      queue_.sq_tail = 0;
    if (++slot_ == queue_.window)
      slot_ = 0;
  }
  if (count != 0)
    ring(queue_.sq_doorbell, queue_.sq_tail);
  in_flight_ += count;
}

/// In place: an entry that is made elsewhere and copied takes three times as
/// long.
void Client::fill(void *place) const {
  const uint64_t *key =
      reinterpret_cast<const uint64_t *>(batch_.keys) + 2 * uint64_t{next_};
  const xiokv_prp prp = xiokv_build_prp(
      queue_, batch_, slot_, batch_.stride * next_, batch_.value_size);
  Entry &entry = *static_cast<Entry *>(place);
  std::memset(&entry, 0, sizeof entry);
  entry.opcode = opcode_;
  entry.cid = static_cast<uint16_t>(slot_);
  entry.nsid = queue_.nsid;
  entry.key_low = key[0];
  entry.key_high = key[1];
  entry.key_length = static_cast<uint8_t>(batch_.key_length);
  entry.prp1 = prp.prp1;
  entry.prp2 = prp.prp2;
  entry.size = batch_.value_size;
}

uint32_t Client::collect() {
  const uint32_t *last = reinterpret_cast<const uint32_t *>(queue_.cq) + 3;
  uint32_t taken = 0;
  while (taken != in_flight_ &&
         (__atomic_load_n(last + 4 * queue_.cq_head, __ATOMIC_ACQUIRE) >> 16 &
          1) == queue_.cq_phase) {
    ++taken;
    if (++queue_.cq_head == queue_.cq_depth) {
      queue_.cq_head = 0;
      queue_.cq_phase ^= 1;
    }
  }
  if (taken != 0)
    ring(queue_.cq_doorbell, queue_.cq_head);
  in_flight_ -= taken;
  return taken;
}

void Idle::wait() {
  constexpr uint32_t rounds_a_yield = 64;
  if (++rounds_ % rounds_a_yield == 0)
    sched_yield();
}

} // namespace xiokv::bench

extern "C" void bench_client_store(const xiokv_batch *batch, uint32_t number) {
  xiokv::bench::drive(*batch, number, xiokv::bench::op_store);
}

extern "C" void bench_client_retrieve(const xiokv_batch *batch,
                                      uint32_t number) {
  xiokv::bench::drive(*batch, number, xiokv::bench::op_retrieve);
}
