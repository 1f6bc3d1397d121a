// SPDX-License-Identifier: MIT
/// @file
/// @brief Entries of the queues as the wire has them: which byte means what.
#pragma once

#include <cstdint>
#include <cstring>

#include "bytes.h"
#include "value_store.h"

namespace xiokv::emulator {

constexpr size_t sqe_bytes = 64;
constexpr size_t cqe_bytes = 16;

/// @brief A submission queue entry.
struct Sqe {
  uint8_t bytes[sqe_bytes];

  uint8_t opcode() const { return bytes[0]; }
  /// @brief FUSE, reserved bits and PSDT: CDW0 bits 15:8.
  uint8_t flags() const { return bytes[1]; }
  uint16_t cid() const { return load<uint16_t>(bytes + 2); }
  uint32_t nsid() const { return dword(1); }
  uint64_t prp1() const { return load<uint64_t>(bytes + 24); }
  uint64_t prp2() const { return load<uint64_t>(bytes + 32); }
  uint32_t dword(size_t number) const {
    return load<uint32_t>(bytes + 4 * number);
  }

  /// @brief Size of the value, or of the host's buffer.
  uint32_t size() const { return dword(10); }
  uint8_t key_length() const { return bytes[44]; }
  uint8_t options() const { return bytes[45]; }

  /// @brief All 16 bytes of the key's places.
  Key key_image() const {
    Key key;
    std::memcpy(key.bytes.data(), bytes + 8, 8);
    std::memcpy(key.bytes.data() + 8, bytes + 56, 8);
    key.length = key_length();
    return key;
  }

  /// @brief The key without what lies past its length, which is 0..16.
  Key key() const {
    Key key = key_image();
    for (size_t i = key.length; i < key_bytes; ++i)
      key.bytes[i] = 0;
    return key;
  }
};

/// @brief Opcodes of the key-value command set, and of Exec.
enum class Opcode : uint8_t {
  store = 0x01,
  retrieve = 0x02,
  list = 0x06,
  erase = 0x10, ///< Delete.
  exist = 0x14,
  exec = 0x83, ///< A vendor's, and only where it was asked for.
};

/// @brief A completion queue entry as two words of this machine, which has the
/// wire's byte order: a queue is served without a detour through bytes.
struct Cqe {
  uint64_t half[2];

  uint16_t sqid() const { return static_cast<uint16_t>(half[1] >> 16); }
  const uint8_t *bytes() const {
    return reinterpret_cast<const uint8_t *>(half);
  }
};
static_assert(sizeof(Cqe) == cqe_bytes, "no padding");

/// @brief What a completion says; its queue adds SQHD and the phase.
struct Completion {
  uint32_t dw0 = 0;
  uint16_t sqid = 0;
  uint16_t cid = 0;
  uint16_t status = 0; ///< Bits 15:1.

  /// @brief The entry, phase bit included.
  Cqe entry(uint16_t sq_head, uint32_t phase) const {
    const uint64_t last = uint64_t{status} << 1 | phase;
    return {{dw0, sq_head | uint64_t{sqid} << 16 | uint64_t{cid} << 32 |
                      last << 48}};
  }
};

} // namespace xiokv::emulator
