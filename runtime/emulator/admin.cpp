// SPDX-License-Identifier: MIT
#include "admin.h"

#include "identify.h"

namespace xiokv::emulator {

namespace {

enum class AdminOpcode : uint8_t {
  delete_sq = 0x00,
  create_sq = 0x01,
  delete_cq = 0x04,
  create_cq = 0x05,
  identify = 0x06,
  set_features = 0x09,
  get_features = 0x0a,
};

enum class Feature : uint8_t {
  number_of_queues = 0x07,
  key_value = 0x20, ///< Bit 0, EDNEK: Delete of a missing key is an error.
};

constexpr uint32_t save_bit = 1u << 31;
constexpr uint32_t contiguous_bit = 1u << 0;

// CDW10 and CDW11 of queue commands: two halves each.
uint32_t low(uint32_t dword) { return dword & 0xffff; }
uint32_t high(uint32_t dword) { return dword >> 16; }

Feature feature_of(const Sqe &sqe) {
  return static_cast<Feature>(sqe.dword(10) & 0xff);
}

Ring ring_of(const Sqe &sqe) { return {sqe.prp1(), high(sqe.dword(10)) + 1}; }

} // namespace

Outcome Admin::run(const Sqe &sqe) {
  if (sqe.flags() != 0)
    return {Status::invalid_field, 0};
  switch (static_cast<AdminOpcode>(sqe.opcode())) {
  case AdminOpcode::delete_sq:
    return {queues_.delete_sq(low(sqe.dword(10))), 0};
  case AdminOpcode::create_sq:
    return {create_sq(sqe), 0};
  case AdminOpcode::delete_cq:
    return {queues_.delete_cq(low(sqe.dword(10))), 0};
  case AdminOpcode::create_cq:
    return {create_cq(sqe), 0};
  case AdminOpcode::identify:
    return identify(sqe);
  case AdminOpcode::set_features:
    return set_features(sqe);
  case AdminOpcode::get_features:
    return get_features(sqe);
  }
  return {Status::invalid_opcode, 0};
}

Outcome Admin::identify(const Sqe &sqe) {
  IdentifyData data;
  const uint8_t cns = static_cast<uint8_t>(sqe.dword(10));
  const uint8_t csi = static_cast<uint8_t>(sqe.dword(11) >> 24);
  Status status = emulator::identify(cns, csi, sqe.nsid(), space_.config,
                                     space_.store.usage(), data);
  if (status != Status::success)
    return {status, 0};
  std::vector<Segment> segments;
  status = walk_prp(space_.dma, sqe.prp1(), sqe.prp2(), data.size(), segments);
  if (status == Status::success)
    status = scatter(space_.dma, segments, data.data(), data.size());
  if (status == Status::success && !space_.dma.flush())
    status = Status::data_transfer_error;
  return {status, 0};
}

Status Admin::check_ring(const Sqe &sqe) const {
  const uint32_t size = high(sqe.dword(10));
  if (size == 0 || size > space_.config.mqes)
    return Status::invalid_queue_size;
  if ((sqe.dword(11) & contiguous_bit) == 0)
    return Status::invalid_field;
  if (sqe.prp1() % page_bytes != 0)
    return Status::prp_offset_invalid;
  return sqe.prp1() == 0 ? Status::invalid_field : Status::success;
}

/// There are no interrupts: whether they are enabled does not matter.
Status Admin::create_cq(const Sqe &sqe) {
  const Status status = check_ring(sqe);
  if (status != Status::success)
    return status;
  if (high(sqe.dword(11)) != 0)
    return Status::invalid_interrupt_vector;
  return queues_.create_cq(low(sqe.dword(10)), ring_of(sqe));
}

Status Admin::create_sq(const Sqe &sqe) {
  const Status status = check_ring(sqe);
  if (status != Status::success)
    return status;
  return queues_.create_sq(low(sqe.dword(10)), ring_of(sqe),
                           high(sqe.dword(11)));
}

/// Completion and submission queues granted, both 0's based.
uint32_t Admin::queue_counts() const {
  const uint32_t most = space_.config.queues - 1;
  return most << 16 | most;
}

Outcome Admin::set_features(const Sqe &sqe) {
  const uint32_t value = sqe.dword(11);
  if ((sqe.dword(10) & save_bit) != 0)
    return {Status::feature_not_saveable, 0};
  switch (feature_of(sqe)) {
  case Feature::number_of_queues:
    if (low(value) == 0xffff || high(value) == 0xffff)
      return {Status::invalid_field, 0};
    return {Status::success, queue_counts()};
  case Feature::key_value:
    if (sqe.nsid() != namespace_id)
      return {Status::invalid_namespace, 0};
    space_.delete_missing_fails = (value & 1) != 0;
    return {};
  }
  return {Status::invalid_field, 0};
}

/// Only current values can be asked for.
Outcome Admin::get_features(const Sqe &sqe) {
  if ((sqe.dword(10) >> 8 & 7) != 0)
    return {Status::invalid_field, 0};
  switch (feature_of(sqe)) {
  case Feature::number_of_queues:
    return {Status::success, queue_counts()};
  case Feature::key_value:
    if (sqe.nsid() != namespace_id)
      return {Status::invalid_namespace, 0};
    return {Status::success, space_.delete_missing_fails ? 1u : 0u};
  }
  return {Status::invalid_field, 0};
}

} // namespace xiokv::emulator
