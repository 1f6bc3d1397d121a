// SPDX-License-Identifier: MIT
#include "dma.h"

#include <cstring>

#include "bytes.h"
#include "config.h"

namespace xiokv::emulator {

namespace {

/// No buffer lies in page 0: its addresses are what a null pointer leads to.
bool is_null(uint64_t iova) { return iova < page_bytes; }

template <class Number> Number *address(uint64_t iova) {
  return reinterpret_cast<Number *>(static_cast<uintptr_t>(iova));
}

} // namespace

bool Dma::read(uint64_t iova, void *buffer, uint64_t bytes) const {
  if (hook_.read)
    return hook_.read(hook_.context, iova, buffer, bytes) == 0;
  if (is_null(iova))
    return false;
  std::memcpy(buffer, address<const void>(iova), bytes);
  return true;
}

bool Dma::write(uint64_t iova, const void *buffer, uint64_t bytes) const {
  if (hook_.write)
    return hook_.write(hook_.context, iova, buffer, bytes) == 0;
  if (is_null(iova))
    return false;
  std::memcpy(address<void>(iova), buffer, bytes);
  return true;
}

bool Dma::read_sqe(uint64_t iova, uint8_t sqe[64]) const {
  if (hooks_rings())
    return hook_.read(hook_.context, iova, sqe, 64) == 0;
  std::memcpy(sqe, address<const void>(iova), 64);
  return true;
}

void Dma::write_cqe_body(uint64_t iova, const uint8_t cqe[16]) const {
  if (hooks_rings()) {
    hook_.write(hook_.context, iova, cqe, 12);
    flush();
    return;
  }
  __atomic_store_n(address<uint64_t>(iova), load<uint64_t>(cqe),
                   __ATOMIC_RELAXED);
  __atomic_store_n(address<uint32_t>(iova + 8), load<uint32_t>(cqe + 8),
                   __ATOMIC_RELAXED);
}

void Dma::write_cqe_phase(uint64_t iova, const uint8_t cqe[16]) const {
  if (hooks_rings())
    hook_.write(hook_.context, iova + 12, cqe + 12, 4);
  else
    __atomic_store_n(address<uint32_t>(iova + 12), load<uint32_t>(cqe + 12),
                     __ATOMIC_RELEASE);
}

void Dma::write_cqe(uint64_t iova, const uint8_t cqe[16]) const {
  if (hooks_rings()) {
    write_cqe_body(iova, cqe);
    write_cqe_phase(iova, cqe);
    return;
  }
  __atomic_store_n(address<uint64_t>(iova), load<uint64_t>(cqe),
                   __ATOMIC_RELAXED);
  __atomic_store_n(address<uint64_t>(iova + 8), load<uint64_t>(cqe + 8),
                   __ATOMIC_RELEASE);
}

} // namespace xiokv::emulator
