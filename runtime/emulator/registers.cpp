// SPDX-License-Identifier: MIT
#include "registers.h"

#include <new>

#include <sys/mman.h>

#include "bytes.h"

namespace xiokv::emulator {

namespace {

constexpr uint64_t doorbells_at = 0x1000;

uint64_t round_to_pages(uint64_t bytes) {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

/// Pages that cost nothing until they are touched: a large stride spreads the
/// doorbells over megabytes.
uint8_t *map_pages(uint64_t size) {
  void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw std::bad_alloc();
  return static_cast<uint8_t *>(memory);
}

/// MQES, contiguous queues required, a timeout of 500 ms, DSTRD, I/O command
/// sets by Identify (CSS bit 6), pages of 4096 bytes only.
uint64_t capabilities(const Config &config) {
  return config.mqes | UINT64_C(1) << 16 | UINT64_C(1) << 24 |
         static_cast<uint64_t>(config.dstrd) << 32 | UINT64_C(1) << 43;
}

/// CSS 110b: all command sets; entries of 64 and 16 bytes.
constexpr uint32_t cc_at_start = cc_enable | 6u << 4 | 6u << 16 | 4u << 20;

} // namespace

Registers::Registers(const Config &config)
    : stride_(UINT64_C(4) << config.dstrd),
      memory_(nullptr, Unmap{round_to_pages(
                           doorbells_at + 2 * (config.queues + 1) * stride_)}) {
  memory_.reset(map_pages(size()));
  store<uint64_t>(memory_.get(), capabilities(config));
  write(Property::vs, nvme_version);
  write(Property::cc, cc_at_start);
  write(Property::csts, csts_ready);
}

void Registers::Unmap::operator()(uint8_t *memory) const {
  munmap(memory, size);
}

uint32_t *Registers::word(uint64_t offset) const {
  return reinterpret_cast<uint32_t *>(memory_.get() + offset);
}

uint32_t *Registers::doorbell(uint32_t number) const {
  return word(doorbells_at + number * stride_);
}

uint32_t Registers::read(Property property) const {
  return acquire(word(static_cast<uint32_t>(property)));
}

void Registers::write(Property property, uint32_t value) {
  __atomic_store_n(word(static_cast<uint32_t>(property)), value,
                   __ATOMIC_RELEASE);
}

} // namespace xiokv::emulator
