// SPDX-License-Identifier: MIT
#include "controller.h"

namespace xiokv::emulator {

namespace {

using Lock = std::lock_guard<std::mutex>;

/// CC.MPS: 0 stands for pages of 4096 bytes.
uint32_t page_size_of(uint32_t cc) { return cc >> 7 & 0xf; }

} // namespace

Controller::Controller(const Config &config, ValueStore *store)
    : config_(config), registers_(config_),
      memory_(store ? nullptr : std::make_unique<MemoryStore>(config_)),
      store_(store ? *store : *memory_), bells_(config_.threads),
      space_{config_, dma_, store_, [this](uint32_t qid) { wake(qid); },
             config_.has(XIOKV_EMU_DELETE_MISSING_FAILS)},
      queues_(config_, registers_, space_, trace_), admin_(space_, queues_) {}

bool Controller::admin(const Sqe &sqe, uint8_t cqe[cqe_bytes]) {
  follow_enable_bit();
  const Lock lock(mutex_);
  if (!enabled_)
    return false;
  if (trace_.on())
    trace_.add(XIOKV_EMU_TRACE_SQE, 0, sqe.bytes, sqe_bytes);
  const Outcome outcome = admin_.run(sqe);
  const uint16_t status = static_cast<uint16_t>(outcome.status);
  const Cqe entry = Completion{outcome.dw0, 0, sqe.cid(), status}.entry(0, 0);
  std::memcpy(cqe, entry.bytes(), cqe_bytes);
  if (trace_.on())
    trace_.add(XIOKV_EMU_TRACE_CQE, 0, cqe, cqe_bytes);
  return true;
}

bool Controller::start() {
  if (!workers_.running())
    queues_.end_steps();
  return workers_.start(config_, bells_, store_,
                        [this](uint32_t worker) { return serve(worker); });
}

bool Controller::serve(uint32_t worker) {
  if (worker == 0)
    follow_enable_bit();
  return queues_.serve(worker + 1, config_.threads);
}

/// As QueueTable::serve shares queues out.
void Controller::wake(uint32_t qid) {
  bells_[(qid - 1) % config_.threads].ring();
}

bool Controller::step(uint32_t qid) {
  follow_enable_bit();
  return !workers_.running() && queues_.step(qid);
}

void Controller::reset() {
  const Lock lock(mutex_);
  disable();
  registers_.write(Property::cc, registers_.read(Property::cc) | cc_enable);
  enable();
}

bool Controller::set_dma(const xiokv_emu_dma *hook) {
  const Lock lock(mutex_);
  if ((hook && (!hook->read || !hook->write)) || !queues_.empty())
    return false;
  dma_.set(hook);
  return true;
}

Counters Controller::counters() const {
  Counters counters = queues_.counters();
  const Usage usage = store_.usage();
  counters.keys = usage.keys;
  counters.bytes_stored = usage.bytes;
  counters.trace_lost = trace_.lost();
  return counters;
}

/// The host resets the controller by clearing CC.EN, and sets it to go on.
void Controller::follow_enable_bit() {
  const auto wanted = [this] {
    return (registers_.read(Property::cc) & cc_enable) != 0;
  };
  if (wanted() == enabled_)
    return;
  const Lock lock(mutex_);
  if (wanted() == enabled_)
    return;
  if (wanted())
    enable();
  else
    disable();
}

void Controller::disable() {
  queues_.reset();
  enabled_ = false;
  registers_.write(Property::csts, 0);
}

/// A page size that CAP does not offer is fatal until the next reset.
void Controller::enable() {
  const bool supported = page_size_of(registers_.read(Property::cc)) == 0;
  enabled_ = supported;
  registers_.write(Property::csts, supported ? csts_ready : csts_fatal);
}

} // namespace xiokv::emulator
