// SPDX-License-Identifier: MIT
/// @file
/// @brief Statuses that the controller reports.
#pragma once

#include <cstdint>

namespace xiokv::emulator {

/// @brief A CQE's status, bits 15:1: SC in bits 7:0, SCT in bits 10:8.
enum class Status : uint16_t {
  success = 0x00,
  invalid_opcode = 0x01,
  invalid_field = 0x02,
  data_transfer_error = 0x04,
  invalid_namespace = 0x0b,
  prp_offset_invalid = 0x13,
  operation_denied = 0x15,
  write_protected = 0x20,

  // Of the key-value command set.
  capacity_exceeded = 0x81,
  namespace_not_ready = 0x82,
  invalid_value_size = 0x85,
  invalid_key_size = 0x86,
  key_missing = 0x87,
  unrecovered_error = 0x88,
  key_exists = 0x89,

  // Of admin commands, SCT 1.
  cq_invalid = 0x100,
  invalid_qid = 0x101,
  invalid_queue_size = 0x102,
  invalid_interrupt_vector = 0x108,
  invalid_queue_deletion = 0x10c,
  feature_not_saveable = 0x10d,

  // Of the way to what is stored, SCT 3.
  controller_pathing_error = 0x360,
};

/// @brief Whether a status is one of the key-value command set's.
constexpr bool is_key_value(Status status) {
  return status >= Status::capacity_exceeded && status <= Status::key_exists;
}

} // namespace xiokv::emulator
