// SPDX-License-Identifier: MIT
/// @file
/// @brief The operations of Exec. A further one is a function and a row of the
/// table in exec_operations.cpp.
#pragma once

#include <array>
#include <cstdint>

namespace xiokv::emulator {

/// @brief Bytes that somebody else owns.
struct Bytes {
  const uint8_t *first = nullptr;
  uint32_t size = 0;
};

/// @brief What an operation returns: a number of its own, or a part of the
/// value, which outlives it.
struct ExecOutput {
  std::array<uint8_t, 8> number = {};
  Bytes part; ///< Taken where `number_bytes` is 0.
  uint32_t number_bytes = 0;

  Bytes bytes() const {
    return number_bytes != 0 ? Bytes{number.data(), number_bytes} : part;
  }
};

/// @brief Something that can be done next to a value.
struct ExecOperation {
  uint32_t id; ///< CDW13.
  const char *name;
  uint32_t input_bytes; ///< That its input has to have.
  ExecOutput (*run)(Bytes value, Bytes input);
};

/// @brief The operation of an id, or null.
const ExecOperation *find_operation(uint32_t id);

} // namespace xiokv::emulator
