// SPDX-License-Identifier: MIT
/// @file
/// @brief BAR 0: controller properties and doorbells, in memory that the host
/// writes at any time.
#pragma once

#include <cstdint>
#include <memory>

#include "config.h"

namespace xiokv::emulator {

/// @brief Offsets of controller properties.
enum class Property : uint32_t {
  cap = 0x00,
  vs = 0x08,
  cc = 0x14,
  csts = 0x1c,
};

/// @brief Bits of CC and CSTS.
constexpr uint32_t cc_enable = 1u << 0;
constexpr uint32_t csts_ready = 1u << 0;
constexpr uint32_t csts_fatal = 1u << 1;

/// @brief NVMe 2.0.
constexpr uint32_t nvme_version = 0x00020000;

class Registers {
public:
  /// @brief Registers of a controller that is enabled.
  explicit Registers(const Config &config);

  void *data() const { return memory_.get(); }
  uint64_t size() const { return memory_.get_deleter().size; }

  uint32_t read(Property property) const;
  void write(Property property, uint32_t value);

  /// @brief Doorbells of queue `qid`. A queue starts with both at zero.
  uint32_t *sq_tail(uint32_t qid) const { return doorbell(2 * qid); }
  uint32_t *cq_head(uint32_t qid) const { return doorbell(2 * qid + 1); }

private:
  struct Unmap {
    uint64_t size;
    void operator()(uint8_t *memory) const;
  };

  uint32_t *word(uint64_t offset) const;
  uint32_t *doorbell(uint32_t number) const;

  uint64_t stride_;
  std::unique_ptr<uint8_t[], Unmap> memory_;
};

/// @brief Read a word that the host writes, and all that it wrote before.
inline uint32_t acquire(const uint32_t *word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

} // namespace xiokv::emulator
