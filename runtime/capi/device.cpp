// SPDX-License-Identifier: MIT
#include "device.h"

#include <cstring>

#include "../emulator/bytes.h"
#include "fault.h"
#include "identify.h"

namespace xiokv::host {

namespace {

constexpr uint32_t threads_default = 32, queues_default = 16;
constexpr uint32_t line_bytes = 64;
constexpr uint32_t depth_least = 2, depth_most = 65536;
// Queues are this process's: as deep as any, with pages of 4096 bytes.
constexpr uint64_t any_cap = depth_most - 1;

uint32_t within(const char *name, uint32_t given, uint32_t otherwise,
                uint32_t most) {
  if (given > most)
    refuse(XIOKV_E_ARGUMENT, "%s %u: 1 to %u are allowed", name, given, most);
  return given == 0 ? otherwise : given;
}

bool is_ring_depth(uint32_t depth) {
  return depth >= depth_least && depth <= depth_most;
}

} // namespace

NvmeDevice::NvmeDevice(const char *path, const xiokv_device_config &config)
    : namespace_(path, config.mounts, config.ioctl),
      queues_(within("queues", config.queues, queues_default,
                     passthrough::queues_max)) {
  const uint32_t threads = within("threads", config.threads, threads_default,
                                  passthrough::threads_max);
  controller_ = std::make_unique<passthrough::Controller>(
      passthrough::Options{namespace_.fd(), namespace_.nsid(), threads, queues_,
                           config.command_timeout_ms, config.ioctl});
  const Execute execute = [this](const uint8_t *sqe, uint32_t data_size,
                                 uint8_t *cqe) { admin(sqe, data_size, cqe); };
  limits_ = identify(execute, namespace_.nsid(), any_cap, 0);
  limits_.queues_max = queues_;
}

xiokv_controller_limits NvmeDevice::limits(uint32_t nsid) const {
  if (nsid != 1 && nsid != namespace_.nsid())
    refuse(XIOKV_E_NSID, "nsid %u: %s is namespace %u; 1 stands for it", nsid,
           namespace_.path().c_str(), namespace_.nsid());
  return limits_;
}

xiokv_created NvmeDevice::create_queue(const xiokv_rings &rings) {
  const std::lock_guard<std::mutex> lock(mutex_);
  uint32_t qid = 0;
  for (uint32_t number = queues_; number != 0; --number)
    if (taken_.count(number) == 0 &&
        (qid == 0 || lost_.count(number) <= lost_.count(qid)))
      qid = number;
  if (qid == 0)
    refuse(XIOKV_E_CONTROLLER, "all %u queue pairs are taken", queues_);
  if (!is_ring_depth(rings.sq_depth) || !is_ring_depth(rings.cq_depth))
    refuse(XIOKV_E_ARGUMENT,
           "queue pair %u of %u and %u entries: %u to %u are allowed", qid,
           rings.sq_depth, rings.cq_depth, depth_least, depth_most);
  if (!controller_->create_queue(
          {rings.sq, rings.cq, qid, rings.sq_depth, rings.cq_depth}))
    refuse(XIOKV_E_CONTROLLER, "%s was stopped", namespace_.path().c_str());
  lost_.erase(qid);
  taken_.insert(qid);
  auto *const doorbell = reinterpret_cast<uint8_t *>(
      static_cast<uintptr_t>(controller_->doorbells()) +
      uintptr_t{2} * qid * line_bytes);
  return {reinterpret_cast<uint32_t *>(doorbell),
          reinterpret_cast<uint32_t *>(doorbell + line_bytes), qid, 0};
}

void NvmeDevice::delete_queue(uint32_t qid) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (lost_.erase(qid) != 0)
    return;
  if (taken_.erase(qid) == 0)
    refuse(XIOKV_E_CONTROLLER,
           "no queue pair %u: it was deleted, or never created", qid);
  controller_->delete_queue(qid);
}

void NvmeDevice::admin(const uint8_t *sqe, uint32_t data_size, uint8_t *cqe) {
  emulator::Sqe entry;
  memcpy(entry.bytes, sqe, sizeof entry.bytes);
  void *const data =
      reinterpret_cast<void *>(static_cast<uintptr_t>(entry.prp1()));
  passthrough::Outcome outcome;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (namespace_.fd() < 0)
    refuse(XIOKV_E_DEVICE, "%s was stopped", namespace_.path().c_str());
  const int fault = controller_->device().admin(
      entry, data_size != 0 ? data : nullptr, data_size, outcome);
  if (fault != 0)
    refuse(XIOKV_E_DEVICE, "%s takes no admin command: %s",
           namespace_.path().c_str(), strerror(fault));
  memset(cqe, 0, 16);
  emulator::store(cqe, outcome.result);
  emulator::store(cqe + 14, static_cast<uint16_t>(outcome.status << 1));
}

xiokv_device_counters NvmeDevice::counters() const {
  const passthrough::Counters found = controller_->counters();
  return {found.commands, found.completions, found.failures, found.last_errno,
          0};
}

void NvmeDevice::reset() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const uint32_t qid : taken_)
    controller_->delete_queue(qid);
  lost_.insert(taken_.begin(), taken_.end());
  taken_.clear();
}

void NvmeDevice::stop() {
  reset();
  controller_->stop();
  const std::lock_guard<std::mutex> lock(mutex_);
  namespace_.close_file();
}

bool NvmeDevice::in_use() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return !taken_.empty();
}

} // namespace xiokv::host
