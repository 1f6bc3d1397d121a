// SPDX-License-Identifier: MIT
#include "faults.h"

#include <algorithm>
#include <cstring>

#include "status.h"

namespace xiokv::emulator {

namespace {

constexpr uint32_t million = 1000000;

bool is_of_queue(uint32_t kind) {
  return kind == XIOKV_EMU_REORDER || kind == XIOKV_EMU_REVERSE;
}

bool selects_commands(const Fault &fault) {
  return fault.probability != 0 || fault.nth != 0 || fault.count != 0 ||
         fault.opcode != 0 || fault.key_length != 0;
}

bool matches(const Fault &fault, const Sqe &sqe, const Key &struck) {
  if (fault.opcode != 0 && fault.opcode != sqe.opcode())
    return false;
  if (fault.key_length == 0)
    return true;
  Key key;
  key.length = fault.key_length;
  std::memcpy(key.bytes.data(), fault.key, key_bytes);
  return struck == key;
}

/// The amount as a 16-bit identifier, or `otherwise` for 0.
uint16_t identifier(const Fault &fault, uint32_t otherwise) {
  return static_cast<uint16_t>(fault.amount != 0 ? fault.amount : otherwise);
}

} // namespace

bool is_allowed(const Fault &fault) {
  const bool known =
      fault.kind >= XIOKV_EMU_REORDER && fault.kind <= XIOKV_EMU_STALL;
  const bool of_queue_is_plain =
      !is_of_queue(fault.kind) ||
      (fault.amount != 0 && !selects_commands(fault));
  const bool cid_fits = (fault.kind != XIOKV_EMU_UNKNOWN_CID &&
                         fault.kind != XIOKV_EMU_FOREIGN_SQID) ||
                        fault.amount <= UINT16_MAX;
  const bool size_fits =
      fault.kind != XIOKV_EMU_BAD_SIZE || fault.amount <= UINT32_MAX;
  return fault.struct_size == sizeof fault && known && of_queue_is_plain &&
         cid_fits && size_fits && fault.probability <= million &&
         fault.key_length <= key_bytes && fault.status >> 15 == 0 &&
         fault.reserved == 0;
}

void Faults::add(const Fault &fault) {
  if (fault.qid != 0 && fault.qid != qid_)
    return;
  if (!is_of_queue(fault.kind)) {
    active_.push_back({fault});
    return;
  }
  window_ = fault.amount;
  reverse_ = fault.kind == XIOKV_EMU_REVERSE;
  group_ = 0;
}

void Faults::clear() {
  active_.clear();
  window_ = 0;
  group_ = 0;
}

Verdict Faults::judge(const Sqe &sqe, const Key &key) {
  Verdict verdict;
  for (Active &active : active_)
    if (strikes(active, sqe, key))
      apply(active.fault, verdict);
  return verdict;
}

bool Faults::strikes(Active &active, const Sqe &sqe, const Key &key) {
  const Fault &fault = active.fault;
  if (!matches(fault, sqe, key))
    return false;
  ++active.seen;
  if (fault.nth != 0 && fault.nth != active.seen)
    return false;
  if (fault.count != 0 && fault.count == active.struck)
    return false;
  if (fault.probability != 0 && strikes_.below(million) >= fault.probability)
    return false;
  ++active.struck;
  return true;
}

void Faults::apply(const Fault &fault, Verdict &verdict) const {
  switch (fault.kind) {
  case XIOKV_EMU_DELAY:
    verdict.delay = std::max(verdict.delay, fault.amount);
    break;
  case XIOKV_EMU_DROP:
    verdict.drop = true;
    break;
  case XIOKV_EMU_DUPLICATE:
    verdict.duplicate_after = fault.amount;
    break;
  case XIOKV_EMU_STATUS:
    verdict.status = fault.status;
    break;
  case XIOKV_EMU_UNKNOWN_CID:
    verdict.unknown_cid = identifier(fault, 0xffff);
    break;
  case XIOKV_EMU_FOREIGN_SQID:
    verdict.foreign_sqid = identifier(fault, qid_ + 1);
    break;
  case XIOKV_EMU_BAD_SIZE:
    verdict.size = static_cast<uint32_t>(
        fault.amount != 0
            ? fault.amount
            : std::min<uint64_t>(UINT32_MAX, uint64_t{value_max_} + 1));
    break;
  default:
    verdict.stall = fault.amount;
    break;
  }
}

size_t Faults::pick(size_t ready) {
  if (window_ == 0)
    return 0;
  const size_t within = static_cast<size_t>(std::min<uint64_t>(window_, ready));
  if (!reverse_)
    return static_cast<size_t>(order_.below(within));
  if (group_ == 0)
    group_ = within;
  return --group_;
}

} // namespace xiokv::emulator
