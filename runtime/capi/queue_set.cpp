// SPDX-License-Identifier: MIT
#include "queue_set.h"

#include <optional>

namespace xiokv::host {

namespace {

constexpr size_t sqe_bytes = 64, cqe_bytes = 16;

uint64_t address_of(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

/// Every slot's CID of the first generation is free.
void fill_free_ring(uint16_t *ring, uint32_t window) {
  for (uint32_t slot = 0; slot < window; ++slot)
    ring[slot] = static_cast<uint16_t>(slot);
}

} // namespace

QueueSet::QueueSet(const Controller &controller, const Sizes &sizes)
    : controller_(controller), sizes_(sizes),
      records_(sizes.queues * sizeof(xiokv_queue)), pairs_(sizes.queues) {
  try {
    for (size_t number = 0; number < pairs_.size(); ++number)
      create(pairs_[number], record(number));
  } catch (const Fault &first) {
    const Fault fault = first;
    try {
      close();
    } catch (const Fault &) {
      abandon();
    }
    throw fault;
  }
}

QueueSet::~QueueSet() { abandon(); }

/// Leak the memory of queues that the controller still has.
void QueueSet::abandon() {
  for (Pair &pair : pairs_)
    if (pair.open)
      new Pair(std::move(pair));
}

void QueueSet::create(Pair &pair, xiokv_queue &queue) {
  pair.sq = Pages(sizes_.depth * sqe_bytes);
  pair.cq = Pages(sizes_.depth * cqe_bytes);
  pair.tables = Pages(XIOKV_TABLE_BYTES(sizes_.window));
  pair.pool = Pages(sizes_.pool_bytes());
  fill_free_ring(pair.tables.as<uint16_t>(), sizes_.window);
  const xiokv_created made = controller_.create_queue(
      {pair.sq.address(), pair.cq.address(), sizes_.depth, sizes_.depth});
  pair.qid = made.qid;
  pair.open = true;
  queue.sq = pair.sq.address();
  queue.cq = pair.cq.address();
  queue.sq_doorbell = address_of(made.sq_doorbell);
  queue.cq_doorbell = address_of(made.cq_doorbell);
  queue.tables = pair.tables.address();
  queue.prp_pool = queue.prp_iova = pair.pool.address();
  queue.prp_pages = sizes_.prp_pages;
  queue.sq_depth = queue.cq_depth = sizes_.depth;
  queue.window = sizes_.window;
  queue.qid = made.qid;
  queue.nsid = sizes_.nsid;
  queue.max_transfer = sizes_.max_transfer;
  queue.max_value = sizes_.max_value;
  queue.cq_phase = 1;
}

void QueueSet::check_alive() const {
  for (size_t number = 0; number < pairs_.size(); ++number) {
    if (!pairs_[number].open)
      refuse(XIOKV_E_DEAD_QUEUE,
             "the queues were deleted; xiokv_reset makes new ones");
    if (record(number).state == XIOKV_QUEUE_DEAD)
      refuse(XIOKV_E_DEAD_QUEUE,
             "queue %u is dead: a command on it timed out; xiokv_reset "
             "replaces it",
             pairs_[number].qid);
  }
}

void QueueSet::close() {
  std::optional<Fault> first;
  for (Pair &pair : pairs_) {
    if (!pair.open)
      continue;
    try {
      controller_.delete_queue(pair.qid);
      forget(pair);
    } catch (const Fault &fault) {
      if (!first)
        first = fault;
    }
  }
  if (first)
    throw *first;
}

void QueueSet::confirm_deleted() {
  for (Pair &pair : pairs_)
    forget(pair);
}

void QueueSet::forget(Pair &pair) { pair = Pair(); }

xiokv_queue_report QueueSet::report() const {
  xiokv_queue_report sum = {};
  for (size_t number = 0; number < pairs_.size(); ++number) {
    const xiokv_queue_report &one = record(number).report;
    sum.submitted += one.submitted;
    sum.completed += one.completed;
    sum.stale += one.stale;
    sum.unknown += one.unknown;
    sum.foreign += one.foreign;
    sum.oversize += one.oversize;
    sum.timeouts += one.timeouts;
    sum.doorbells += one.doorbells;
  }
  return sum;
}

} // namespace xiokv::host
