// SPDX-License-Identifier: MIT
/// @file
/// @brief How the controller reaches the host's memory.
#pragma once

#include <cstdint>

#include "command.h"
#include "emulator.h"

namespace xiokv::emulator {

/// @brief Reads and writes at IOVAs: by the hook where one is set, else as
/// addresses of this process. Each returns whether it succeeded.
class Dma {
public:
  void set(const xiokv_emu_dma *hook) {
    hook_ = hook ? *hook : xiokv_emu_dma{};
  }

  bool read(uint64_t iova, void *buffer, uint64_t bytes) const;
  bool write(uint64_t iova, const void *buffer, uint64_t bytes) const;

  /// @brief The memory at an IOVA, where it is an address of this process; else
  /// null.
  const uint8_t *memory(uint64_t iova) const {
    return hook_.read ? nullptr : address<const uint8_t>(iova);
  }

  /// @brief Wait until every write has reached its place.
  bool flush() const {
    return hook_.flush == nullptr || hook_.flush(hook_.context) == 0;
  }

  /// @brief Whether the rings too are out of this process's reach.
  bool hooks_rings() const { return (hook_.flags & XIOKV_EMU_DMA_RINGS) != 0; }

  bool read_sqe(uint64_t iova, Sqe &sqe) const {
    if (hooks_rings())
      return hook_.read(hook_.context, iova, sqe.bytes, sqe_bytes) == 0;
    sqe = *address<const Sqe>(iova);
    return true;
  }

  /// @brief Write DW0..DW2 of a completion.
  void write_cqe_body(uint64_t iova, const Cqe &cqe) const;

  /// @brief Write DW3, whose phase bit hands the completion to the host; a hook
  /// may put a write off until it is flushed.
  void write_cqe_phase(uint64_t iova, const Cqe &cqe) const;

  /// @brief Write a completion, its second half last.
  void write_cqe(uint64_t iova, const Cqe &cqe) const {
    if (hooks_rings()) {
      write_cqe_body(iova, cqe);
      write_cqe_phase(iova, cqe);
      return;
    }
    uint64_t *half = address<uint64_t>(iova);
    __atomic_store_n(half, cqe.half[0], __ATOMIC_RELAXED);
    __atomic_store_n(half + 1, cqe.half[1], __ATOMIC_RELEASE);
  }

private:
  template <class Object> static Object *address(uint64_t iova) {
    return reinterpret_cast<Object *>(static_cast<uintptr_t>(iova));
  }

  xiokv_emu_dma hook_ = {};
};

} // namespace xiokv::emulator
