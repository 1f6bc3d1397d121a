// SPDX-License-Identifier: MIT
#include "device.h"

#include <errno.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <new>

#include "../emulator/config.h"

namespace xiokv::passthrough {

namespace {

using emulator::Dma;
using emulator::Segment;
using emulator::Status;

constexpr uint16_t status_mask = 0x7fff;
// Generic: what went wrong is not the command's.
constexpr uint16_t internal_error = 0x06;

Outcome failed(Status status) { return {static_cast<uint16_t>(status), 0}; }

int call_system(int fd, unsigned long number, void *argument) {
  return ioctl(fd, number, argument);
}

/// Whether the driver would fill the host's buffer from a copy of its own, all
/// of it, with zeros past the data and where the command fails.
bool needs_copy(const Sqe &sqe) {
  constexpr uint32_t alignment = 4;
  return direction(sqe.opcode()) == Direction::from_device &&
         sqe.size() % alignment != 0;
}

/// Bytes of its buffer that a command filled which went well.
uint32_t written(const Sqe &sqe, const Outcome &outcome) {
  if (static_cast<Opcode>(sqe.opcode()) != Opcode::retrieve)
    return sqe.size();
  return std::min(sqe.size(), static_cast<uint32_t>(outcome.result));
}

void *pointer(uint64_t address) {
  return reinterpret_cast<void *>(static_cast<uintptr_t>(address));
}

} // namespace

Outcome Device::run(const Sqe &sqe) {
  if (sqe.nsid() != 1 && sqe.nsid() != config_.nsid)
    return failed(Status::invalid_namespace);
  const Direction way = direction(sqe.opcode());
  if (way == Direction::unknown)
    return failed(Status::invalid_opcode);
  if (way == Direction::none || sqe.size() == 0)
    return run_on(sqe, nullptr, 0);
  try {
    return run_mapped(sqe);
  } catch (const std::bad_alloc &) {
    return {internal_error, 0};
  }
}

Outcome Device::run_mapped(const Sqe &sqe) {
  std::vector<Segment> segments;
  const Status status =
      walk_prp(Dma(), sqe.prp1(), sqe.prp2(), sqe.size(), segments);
  if (status != Status::success)
    return failed(status);
  if (segments.size() != 1 || needs_copy(sqe))
    return run_copied(sqe, segments);
  // The driver takes a null pointer for a command without data.
  if (segments[0].iova < emulator::page_bytes)
    return failed(Status::data_transfer_error);
  return run_on(sqe, pointer(segments[0].iova), sqe.size());
}

/// The call takes data in one piece. What a command does not write stays as it
/// was.
Outcome Device::run_copied(const Sqe &sqe,
                           const std::vector<Segment> &segments) {
  std::vector<uint8_t> copy(sqe.size());
  const bool sends = direction(sqe.opcode()) == Direction::to_device;
  Status status = Status::success;
  if (sends)
    status = gather(Dma(), segments, copy.data(), copy.size());
  if (status != Status::success)
    return failed(status);
  const Outcome outcome = run_on(sqe, copy.data(), sqe.size());
  if (!sends && outcome.status == 0)
    status = scatter(Dma(), segments, copy.data(), written(sqe, outcome));
  return status == Status::success ? outcome : failed(status);
}

Outcome Device::run_on(const Sqe &sqe, void *data, uint32_t data_len) {
  nvme_passthru_cmd64 request =
      make_request(sqe, config_.nsid, data, data_len, config_.timeout_ms);
  Outcome outcome;
  if (call(NVME_IOCTL_IO64_CMD, request, outcome) != 0)
    return {internal_error, 0};
  return outcome;
}

int Device::admin(const Sqe &sqe, void *data, uint32_t data_len,
                  Outcome &outcome) {
  nvme_passthru_cmd64 request =
      make_request(sqe, sqe.nsid(), data, data_len, config_.timeout_ms);
  return call(NVME_IOCTL_ADMIN64_CMD, request, outcome);
}

/// A command that the device refuses is a positive number, its status.
int Device::call(unsigned long number, nvme_passthru_cmd64 &request,
                 Outcome &outcome) {
  const auto system = config_.ioctl != nullptr ? config_.ioctl : call_system;
  const int answer = system(config_.fd, number, &request);
  if (answer < 0) {
    last_errno_ = errno;
    ++failures_;
    return errno;
  }
  outcome = {static_cast<uint16_t>(answer & status_mask), request.result};
  return 0;
}

} // namespace xiokv::passthrough
