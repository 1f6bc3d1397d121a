// SPDX-License-Identifier: MIT
/// @file
/// @brief What has to hold after every batch of a play.
#include "checks.h"

#include <stdio.h>

#include <algorithm>

#include "play.h"

namespace {
const char *const outcome_names[] = {"none",    "ok",       "truncated",
                                     "missing", "exists",   "error",
                                     "timeout", "cancelled"};
} // namespace

const char *outcome_name(uint8_t outcome) { return outcome_names[outcome & 7]; }

std::string hex(const Bytes &bytes) {
  std::string text;
  char digits[3];
  for (char byte : bytes) {
    snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
    text += digits;
  }
  return text;
}

bool is_poison(const Bytes &bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](char byte) { return byte == Buffer::poison; });
}

/// What a batch may say of a key at all, whatever the store holds.
void Play::check_outcome(const Request &request, size_t i,
                         const xiokv_result &result) const {
  const bool lost = faults_.count(XIOKV_EMU_DROP) != 0 ||
                    faults_.count(XIOKV_EMU_STALL) != 0 || was_dead_;
  bool allowed = true;
  switch (result.outcome) {
  case XIOKV_OUTCOME_NONE:
    allowed = false;
    break;
  case XIOKV_OUTCOME_ERROR:
    allowed = too_large(request.sizes[i]) ||
              (faults_.count(XIOKV_EMU_STATUS) && result.status == 0x88) ||
              (faults_.count(XIOKV_EMU_BAD_SIZE) && result.status == 0 &&
               request.command == "retrieve");
    break;
  case XIOKV_OUTCOME_TIMEOUT:
    allowed = (lost || request.total != 0) && result.status == XIOKV_NO_STATUS;
    break;
  case XIOKV_OUTCOME_CANCELLED:
    allowed = request.stop_at != 0 && result.status == XIOKV_NO_STATUS;
    break;
  case XIOKV_OUTCOME_TRUNCATED:
    allowed = request.command == "retrieve";
    break;
  case XIOKV_OUTCOME_EXISTS:
    allowed = false;
    break;
  }
  if (!allowed)
    throw Broken(request.command + " of key " + std::to_string(i) + " (" +
                 hex(request.keys[i]) + "): outcome " +
                 outcome_name(result.outcome) + ", status " +
                 std::to_string(result.status) + ", not allowed here");
}

/// The result and the bytes of one retrieved key.
void Play::check_value(const Request &request, size_t i,
                       const xiokv_result &result) const {
  const Known &known = known_.at(request.keys[i]);
  const Bytes buffer =
      request.buffer->read(request.offsets[i], request.sizes[i]);
  const std::string name = "retrieve of key " + std::to_string(i) + " (" +
                           hex(request.keys[i]) + "): ";
  if (result.outcome == XIOKV_OUTCOME_CANCELLED ||
      result.outcome == XIOKV_OUTCOME_MISSING) {
    if (!is_poison(buffer))
      throw Broken(name + "its buffer was written");
    if (result.outcome == XIOKV_OUTCOME_MISSING && !known.absent)
      throw Broken(name + "missing, and yet it was stored");
  }
  if (result.outcome != XIOKV_OUTCOME_OK &&
      result.outcome != XIOKV_OUTCOME_TRUNCATED)
    return;
  const bool truncated = result.value_size > buffer.size();
  if (truncated != (result.outcome == XIOKV_OUTCOME_TRUNCATED))
    throw Broken(name + "a value of " + std::to_string(result.value_size) +
                 " bytes in " + std::to_string(buffer.size()) + " is " +
                 outcome_name(result.outcome));
  const size_t landed = std::min<size_t>(result.value_size, buffer.size());
  const bool matches = std::any_of(
      known.values.begin(), known.values.end(), [&](const Bytes &value) {
        return value.size() == result.value_size &&
               std::equal(value.begin(), value.begin() + landed,
                          buffer.begin());
      });
  if (!matches)
    throw Broken(name + std::to_string(result.value_size) +
                 " bytes that were never stored under it");
  if (!is_poison(Bytes(buffer.begin() + landed, buffer.end())))
    throw Broken(name + "bytes past its value were written");
}

/// Nothing is written between the buffers of two keys.
void Play::check_gaps(const Request &request) const {
  uint64_t covered = 0;
  for (size_t i = 0; i < request.keys.size(); ++i) {
    if (!is_poison(request.buffer->read(covered, request.offsets[i] - covered)))
      throw Broken("bytes before the buffer of key " + std::to_string(i) +
                   " were written");
    covered = request.offsets[i] + request.sizes[i];
  }
}

/// A page of List holds whole keys only.
std::vector<Bytes> Play::keys_on_page(const Request &request, size_t i) const {
  const Bytes page = request.buffer->read(request.offsets[i], request.sizes[i]);
  size_t at = 0;
  const auto take = [&](size_t bytes) {
    if (bytes > page.size() - at)
      throw Broken("a page ends within what it says that it holds");
    at += bytes;
    return page.data() + at - bytes;
  };
  uint32_t count;
  memcpy(&count, take(4), 4);
  std::vector<Bytes> found;
  while (count-- != 0) {
    uint16_t length;
    memcpy(&length, take(2), 2);
    const char *key = take(length);
    found.emplace_back(key, key + length);
    take((4 - at % 4) % 4);
  }
  return found;
}

/// No CID may be used again while a command with it is in flight.
void Play::check_trace() {
  std::vector<xiokv_emu_trace> records(4096);
  uint64_t count;
  while ((count =
              xiokv_emu_trace_read(emu(), records.data(), records.size())) != 0)
    for (uint64_t i = 0; i < count; ++i) {
      const struct xiokv_emu_trace &record = records[i];
      uint16_t cid;
      const bool submitted = record.kind == XIOKV_EMU_TRACE_SQE;
      memcpy(&cid, record.bytes + (submitted ? 2 : 12), 2);
      if (!submitted)
        open_[record.qid].erase(cid);
      else if (cid == 0xffff || !open_[record.qid].insert(cid).second)
        throw Broken("CID " + std::to_string(cid) + " on queue " +
                     std::to_string(record.qid) + " is in flight already");
    }
}

/// Whether a queue cannot carry so much.
bool Play::too_large(uint32_t size) const {
  return std::any_of(
      queues.begin(), queues.end(),
      [&](const xiokv_queue &queue) { return size > queue.max_transfer; });
}

bool Play::any_dead() const {
  return std::any_of(queues.begin(), queues.end(),
                     [](const xiokv_queue &queue) {
                       return queue.state != XIOKV_QUEUE_READY;
                     });
}

void Play::check_queues(const Results &results) {
  for (const xiokv_queue &queue : queues) {
    const xiokv_queue_report &report = queue.report;
    if ((report.stale != 0 && !drawn_.count(XIOKV_EMU_DUPLICATE)) ||
        (report.unknown != 0 && !drawn_.count(XIOKV_EMU_UNKNOWN_CID)) ||
        (report.foreign != 0 && !drawn_.count(XIOKV_EMU_FOREIGN_SQID)) ||
        (report.oversize != 0 && !drawn_.count(XIOKV_EMU_BAD_SIZE)))
      throw Broken("queue " + std::to_string(queue.qid) +
                   " reports completions that were never sent: stale " +
                   std::to_string(report.stale) + ", unknown " +
                   std::to_string(report.unknown) + ", foreign " +
                   std::to_string(report.foreign) + ", oversize " +
                   std::to_string(report.oversize));
    if (queue.state == XIOKV_QUEUE_READY &&
        report.submitted != report.completed)
      throw Broken("queue " + std::to_string(queue.qid) + " submitted " +
                   std::to_string(report.submitted) + " and completed " +
                   std::to_string(report.completed));
  }
  const bool timed_out = std::any_of(
      results.begin(), results.end(), [](const xiokv_result &result) {
        return result.outcome == XIOKV_OUTCOME_TIMEOUT;
      });
  if (timed_out && !any_dead() && !limited_)
    throw Broken("a key timed out and no queue is dead");
}

struct xiokv_emu_counters Play::counters() const {
  struct xiokv_emu_counters counters;
  xiokv_emu_counters(emu(), &counters);
  return counters;
}

void Play::check_mirrors() const {
  for (const xiokv_queue &queue : queues) {
    if (queue.mirror == 0)
      continue;
    const auto &seen = *reinterpret_cast<const xiokv_queue *>(queue.mirror);
    if (seen.sq_tail != queue.sq_tail || seen.cq_head != queue.cq_head ||
        seen.cq_phase != queue.cq_phase || seen.state != queue.state ||
        seen.free_position != queue.free_position ||
        memcmp(&seen.report, &queue.report, sizeof seen.report) != 0)
      throw Broken("the mirror of queue " + std::to_string(queue.qid) +
                   " shows another state");
  }
}

/// A CQ head doorbell is seen before the SQ doorbell that uses its room: then
/// only completions that a fault adds ever find their ring full.
void Play::check_doorbells() const {
  if (counters().invalid_doorbells != 0)
    throw Broken("a doorbell was given a place that it may not have");
  const bool added = drawn_.count(XIOKV_EMU_DUPLICATE) != 0 ||
                     drawn_.count(XIOKV_EMU_UNKNOWN_CID) != 0 ||
                     drawn_.count(XIOKV_EMU_FOREIGN_SQID) != 0;
  if (counters().held_completions != 0 && !added)
    throw Broken("a completion found its ring full");
}

/// What becomes of a batch that was stopped before it began.
void Play::check_nothing_ran(const Results &results, uint64_t fetched) const {
  for (const xiokv_result &result : results)
    if (result.outcome != XIOKV_OUTCOME_CANCELLED)
      throw Broken(std::string("a key of a batch stopped beforehand is ") +
                   outcome_name(result.outcome));
  if (fetched != 0)
    throw Broken("a batch stopped beforehand sent " + std::to_string(fetched) +
                 " commands");
}
