// SPDX-License-Identifier: MIT
#include "dma.h"

#include <cstring>

#include "config.h"

namespace xiokv::emulator {

namespace {

/// No buffer lies in page 0: its addresses are what a null pointer leads to.
bool is_null(uint64_t iova) { return iova < page_bytes; }

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

void Dma::write_cqe_body(uint64_t iova, const Cqe &cqe) const {
  if (hooks_rings()) {
    hook_.write(hook_.context, iova, cqe.half, 12);
    flush();
    return;
  }
  __atomic_store_n(address<uint64_t>(iova), cqe.half[0], __ATOMIC_RELAXED);
  __atomic_store_n(address<uint32_t>(iova + 8),
                   static_cast<uint32_t>(cqe.half[1]), __ATOMIC_RELAXED);
}

void Dma::write_cqe_phase(uint64_t iova, const Cqe &cqe) const {
  const uint32_t last = static_cast<uint32_t>(cqe.half[1] >> 32);
  if (hooks_rings()) {
    hook_.write(hook_.context, iova + 12, &last, 4);
    flush();
  } else {
    __atomic_store_n(address<uint32_t>(iova + 12), last, __ATOMIC_RELEASE);
  }
}

} // namespace xiokv::emulator
