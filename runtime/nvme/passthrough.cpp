// SPDX-License-Identifier: MIT
#include "passthrough.h"

#include <cstdio>
#include <exception>

#include "controller.h"

using xiokv::emulator::Sqe;
using xiokv::passthrough::Controller;
using xiokv::passthrough::Outcome;

namespace {

constexpr uint32_t depth_min = 2;
constexpr uint32_t depth_max = 65536;

bool is_depth(uint32_t depth) {
  return depth >= depth_min && depth <= depth_max;
}

const char *fault_of(const xiokv_pass_config &config) {
  if (config.struct_size != sizeof config)
    return "struct_size is that of another version";
  if (config.threads < 1 || config.threads > XIOKV_PASS_THREADS_MAX)
    return "threads: 1 to 1024 are allowed";
  if (config.queues < 1 || config.queues > XIOKV_PASS_QUEUES_MAX)
    return "queues: 1 to 1024 are allowed";
  return nullptr;
}

Controller &inside(xiokv_pass *pass) {
  return *reinterpret_cast<Controller *>(pass);
}

const Controller &inside(const xiokv_pass *pass) {
  return *reinterpret_cast<const Controller *>(pass);
}

} // namespace

xiokv_pass *xiokv_pass_create(const xiokv_pass_config *config, char *error,
                              size_t error_bytes) {
  const char *fault = fault_of(*config);
  try {
    if (fault == nullptr)
      return reinterpret_cast<xiokv_pass *>(new Controller(*config));
    snprintf(error, error_bytes, "%s", fault);
  } catch (const std::exception &broken) {
    snprintf(error, error_bytes, "the system gives no thread: %s",
             broken.what());
  }
  return nullptr;
}

void xiokv_pass_stop(xiokv_pass *pass) { inside(pass).stop(); }

void xiokv_pass_destroy(xiokv_pass *pass) { delete &inside(pass); }

uint64_t xiokv_pass_doorbells(const xiokv_pass *pass) {
  return inside(pass).doorbells();
}

uint64_t xiokv_pass_doorbells_size(const xiokv_pass *pass) {
  return inside(pass).doorbells_size();
}

int xiokv_pass_create_queue(xiokv_pass *pass, const xiokv_pass_queue *queue) {
  const bool fits = is_depth(queue->sq_depth) && is_depth(queue->cq_depth);
  return fits && inside(pass).create_queue(*queue) ? 0 : -1;
}

int xiokv_pass_delete_queue(xiokv_pass *pass, uint32_t qid) {
  return inside(pass).delete_queue(qid) ? 0 : -1;
}

int xiokv_pass_admin(xiokv_pass *pass, const uint8_t sqe[64], uint32_t data_len,
                     uint8_t cqe[16]) {
  Sqe entry;
  memcpy(entry.bytes, sqe, sizeof entry.bytes);
  void *data = reinterpret_cast<void *>(static_cast<uintptr_t>(entry.prp1()));
  Outcome outcome;
  const int fault = inside(pass).device().admin(
      entry, data_len != 0 ? data : nullptr, data_len, outcome);
  memset(cqe, 0, 16);
  xiokv::emulator::store(cqe, outcome.result);
  xiokv::emulator::store(cqe + 14, static_cast<uint16_t>(outcome.status << 1));
  return fault;
}

void xiokv_pass_counters(xiokv_pass *pass,
                         struct xiokv_pass_counters *counters) {
  *counters = inside(pass).counters();
}
