// SPDX-License-Identifier: MIT
#include "emulator.h"

#include <algorithm>
#include <cstdio>
#include <exception>

#include "controller.h"

using xiokv::emulator::Controller;
using xiokv::emulator::ValueStore;

struct xiokv_emu : Controller {
  using Controller::Controller;
};

namespace {

xiokv_emu *refuse(const std::string &reason, char *error, size_t size) {
  if (error && size != 0)
    std::snprintf(error, size, "%s", reason.c_str());
  return nullptr;
}

ValueStore *store_at(xiokv_emu_store *store) {
  return reinterpret_cast<ValueStore *>(store);
}

} // namespace

xiokv_emu *xiokv_emu_create(const xiokv_emu_config *config, char *error,
                            size_t error_size) {
  return xiokv_emu_create_on(config, nullptr, error, error_size);
}

xiokv_emu *xiokv_emu_create_on(const xiokv_emu_config *config,
                               xiokv_emu_store *store, char *error,
                               size_t error_size) {
  xiokv::emulator::Config completed;
  std::string reason;
  if (config == nullptr)
    return refuse("config is NULL", error, error_size);
  if (!xiokv::emulator::complete(*config, completed, reason))
    return refuse(reason, error, error_size);
  try {
    if (store)
      completed.value_max =
          std::min(completed.value_max, store_at(store)->value_max());
    return new xiokv_emu(completed, store_at(store));
  } catch (const std::exception &failure) {
    return refuse(failure.what(), error, error_size);
  }
}

int xiokv_emu_store_lend(xiokv_emu_store *store, void *memory, uint64_t bytes) {
  return store_at(store)->lend(static_cast<uint8_t *>(memory), bytes) ? 0 : -1;
}

void xiokv_emu_store_take_back(xiokv_emu_store *store, void *memory) {
  store_at(store)->take_back(static_cast<uint8_t *>(memory));
}

void xiokv_emu_store_close(xiokv_emu_store *store) { delete store_at(store); }

void xiokv_emu_destroy(xiokv_emu *emu) { delete emu; }

void *xiokv_emu_registers(xiokv_emu *emu) { return emu->registers().data(); }

uint64_t xiokv_emu_registers_size(xiokv_emu *emu) {
  return emu->registers().size();
}

int xiokv_emu_admin(xiokv_emu *emu, const uint8_t sqe[64], uint8_t cqe[16]) {
  xiokv::emulator::Sqe entry;
  std::memcpy(entry.bytes, sqe, sizeof entry.bytes);
  return emu->admin(entry, cqe) ? 0 : -1;
}

int xiokv_emu_start(xiokv_emu *emu) { return emu->start() ? 0 : -1; }

void xiokv_emu_stop(xiokv_emu *emu) { emu->stop(); }

uint32_t xiokv_emu_step(xiokv_emu *emu, uint32_t qid) {
  return emu->step(qid) ? 1 : 0;
}

void xiokv_emu_reset(xiokv_emu *emu) { emu->reset(); }

void xiokv_emu_kill(xiokv_emu *emu, uint32_t qid) { emu->queues().kill(qid); }

int xiokv_emu_fault(xiokv_emu *emu, const struct xiokv_emu_fault *fault) {
  if (!xiokv::emulator::is_allowed(*fault))
    return -1;
  emu->queues().add_fault(*fault);
  return 0;
}

void xiokv_emu_clear_faults(xiokv_emu *emu) { emu->queues().clear_faults(); }

void xiokv_emu_trace_start(xiokv_emu *emu, uint64_t capacity) {
  emu->trace().start(capacity);
}

uint64_t xiokv_emu_trace_read(xiokv_emu *emu, xiokv_emu_trace *out,
                              uint64_t count) {
  return emu->trace().take(out, count);
}

void xiokv_emu_counters(xiokv_emu *emu, struct xiokv_emu_counters *out) {
  *out = emu->counters();
}

int xiokv_emu_set_dma(xiokv_emu *emu, const xiokv_emu_dma *dma) {
  return emu->set_dma(dma) ? 0 : -1;
}
