// SPDX-License-Identifier: MIT
#include "queue_table.h"

namespace xiokv::emulator {

namespace {

using Lock = std::lock_guard<std::mutex>;

void add(Counters &sum, const Counters &part) {
  sum.commands += part.commands;
  sum.completions += part.completions;
  sum.bytes_in += part.bytes_in;
  sum.bytes_out += part.bytes_out;
  sum.doorbells += part.doorbells;
  sum.invalid_doorbells += part.invalid_doorbells;
  sum.held_completions += part.held_completions;
}

/// A new queue starts with its doorbell at zero.
uint32_t *zeroed(uint32_t *doorbell) {
  __atomic_store_n(doorbell, 0, __ATOMIC_RELEASE);
  return doorbell;
}

} // namespace

QueueTable::QueueTable(const Config &config, const Registers &registers,
                       const Namespace &space, Trace &trace)
    : config_(config), registers_(registers), space_(space), trace_(trace),
      cqs_(config.queues + 1), slots_(config.queues + 1) {}

/// Lets the visitor work on a queue, if it exists, while nobody serves it.
template <class Visitor>
void QueueTable::visit(uint32_t qid, Visitor visitor) const {
  Slot &slot = slots_[qid];
  ++slot.visitors;
  const Lock lock(slot.mutex);
  --slot.visitors;
  if (slot.queue)
    visitor(*slot.queue);
}

template <class Visitor> void QueueTable::visit_all(Visitor visitor) const {
  for (uint32_t qid = 1; qid < end_; ++qid)
    visit(qid, visitor);
}

bool QueueTable::number_is_free(uint32_t qid, bool taken) const {
  return qid != 0 && qid <= config_.queues && !taken;
}

Status QueueTable::create_cq(uint32_t qid, Ring ring) {
  const Lock lock(mutex_);
  if (!number_is_free(qid, qid < cqs_.size() && cqs_[qid]))
    return Status::invalid_qid;
  cqs_[qid] = std::make_unique<CompletionQueue>(
      ring, zeroed(registers_.cq_head(qid)), space_.dma, trace_);
  return Status::success;
}

Status QueueTable::create_sq(uint32_t qid, Ring ring, uint32_t cqid) {
  const Lock lock(mutex_);
  if (!number_is_free(qid, qid < slots_.size() && slots_[qid].queue))
    return Status::invalid_qid;
  if (cqid == 0 || cqid > config_.queues)
    return Status::invalid_qid;
  if (!cqs_[cqid])
    return Status::cq_invalid;
  auto queue = std::make_unique<SubmissionQueue>(
      static_cast<uint16_t>(qid), ring, zeroed(registers_.sq_tail(qid)),
      *cqs_[cqid], space_, space_.store.open([this, qid] { space_.wake(qid); }),
      trace_);
  for (const Fault &fault : faults_)
    queue->faults().add(fault);
  if (killed_)
    queue->kill();
  {
    const Lock slot(slots_[qid].mutex);
    slots_[qid].queue = std::move(queue);
  }
  if (end_ <= qid)
    end_ = qid + 1;
  return Status::success;
}

Status QueueTable::delete_sq(uint32_t qid) {
  const Lock lock(mutex_);
  if (qid == 0 || qid > config_.queues || !slots_[qid].queue)
    return Status::invalid_qid;
  retire(qid);
  return Status::success;
}

/// When this returns, nothing of the queue is at work any more.
void QueueTable::retire(uint32_t qid) {
  visit(qid, [this, qid](SubmissionQueue &queue) {
    add(retired_, queue.counters());
    slots_[qid].queue.reset();
  });
}

Status QueueTable::delete_cq(uint32_t qid) {
  const Lock lock(mutex_);
  if (qid == 0 || qid > config_.queues || !cqs_[qid])
    return Status::invalid_qid;
  if (is_used(*cqs_[qid]))
    return Status::invalid_queue_deletion;
  retired_.invalid_doorbells += cqs_[qid]->invalid_doorbells();
  cqs_[qid].reset();
  return Status::success;
}

bool QueueTable::is_used(const CompletionQueue &cq) const {
  for (const Slot &slot : slots_)
    if (slot.queue && &slot.queue->cq() == &cq)
      return true;
  return false;
}

void QueueTable::reset() {
  const Lock lock(mutex_);
  for (uint32_t qid = 1; qid < end_; ++qid)
    retire(qid);
  for (auto &cq : cqs_) {
    retired_.invalid_doorbells += cq ? cq->invalid_doorbells() : 0;
    cq.reset();
  }
  killed_ = false;
  end_ = 1;
}

bool QueueTable::serve(uint32_t first, uint32_t step) {
  const uint32_t end = end_;
  bool busy = false;
  for (uint32_t qid = first; qid < end; qid += step) {
    Slot &slot = slots_[qid];
    if (slot.visitors.load(std::memory_order_relaxed) != 0)
      continue;
    const std::unique_lock<std::mutex> lock(slot.mutex, std::try_to_lock);
    if (lock && slot.queue)
      busy |= slot.queue->serve();
  }
  return busy;
}

bool QueueTable::step(uint32_t qid) {
  bool done = false;
  if (qid < slots_.size())
    visit(qid, [&done](SubmissionQueue &queue) { done = queue.step(); });
  return done;
}

void QueueTable::end_steps() {
  const Lock lock(mutex_);
  for (const auto &cq : cqs_) {
    if (!cq)
      continue;
    const Lock cq_lock(cq->mutex);
    if (cq->is_half_posted())
      cq->post_rest();
  }
}

void QueueTable::kill(uint32_t qid) {
  const Lock lock(mutex_);
  const auto kill_one = [](SubmissionQueue &queue) { queue.kill(); };
  killed_ |= qid == 0;
  if (qid == 0)
    visit_all(kill_one);
  else if (qid < slots_.size())
    visit(qid, kill_one);
}

void QueueTable::add_fault(const Fault &fault) {
  const Lock lock(mutex_);
  faults_.push_back(fault);
  visit_all([&](SubmissionQueue &queue) { queue.faults().add(fault); });
}

void QueueTable::clear_faults() {
  const Lock lock(mutex_);
  faults_.clear();
  visit_all([](SubmissionQueue &queue) { queue.clear_faults(); });
}

bool QueueTable::empty() const {
  const Lock lock(mutex_);
  for (const auto &cq : cqs_)
    if (cq)
      return false;
  return true;
}

Counters QueueTable::counters() const {
  const Lock lock(mutex_);
  Counters sum = retired_;
  visit_all([&](SubmissionQueue &queue) { add(sum, queue.counters()); });
  for (const auto &cq : cqs_) {
    if (!cq)
      continue;
    const Lock cq_lock(cq->mutex);
    sum.invalid_doorbells += cq->invalid_doorbells();
  }
  return sum;
}

} // namespace xiokv::emulator
