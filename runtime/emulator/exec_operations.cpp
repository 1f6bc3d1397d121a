// SPDX-License-Identifier: MIT
#include "exec_operations.h"

#include <algorithm>

#include "bytes.h"

namespace xiokv::emulator {

namespace {

template <class Number> ExecOutput number_output(Number number) {
  ExecOutput output;
  store(output.number.data(), number);
  output.number_bytes = sizeof number;
  return output;
}

/// The size of the value, as 64 bits.
ExecOutput run_length(Bytes value, Bytes) {
  return number_output<uint64_t>(value.size);
}

/// The remainder of every byte, for CRC-32C: polynomial 1EDC6F41h, reflected.
constexpr std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table = {};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit)
      rest = rest >> 1 ^ (rest & 1 ? 0x82f63b78u : 0u);
    table[byte] = rest;
  }
  return table;
}

/// CRC-32C of the value (as iSCSI and NVMe digests have it), as 32 bits.
ExecOutput run_checksum(Bytes value, Bytes) {
  static constexpr std::array<uint32_t, 256> table = crc_table();
  uint32_t crc = UINT32_MAX;
  for (uint32_t i = 0; i < value.size; ++i)
    crc = crc >> 8 ^ table[(crc ^ value.first[i]) & 0xff];
  return number_output<uint32_t>(~crc);
}

/// Bytes of the value from an offset on, as many as asked for, or as there are;
/// input: offset and length, 64 bits each.
ExecOutput run_range(Bytes value, Bytes input) {
  const uint64_t offset =
      std::min<uint64_t>(load<uint64_t>(input.first), value.size);
  const uint64_t length =
      std::min(load<uint64_t>(input.first + 8), value.size - offset);
  ExecOutput output;
  output.part = {value.first + offset, static_cast<uint32_t>(length)};
  return output;
}

constexpr ExecOperation operations[] = {
    {1, "length", 0, run_length},
    {2, "checksum", 0, run_checksum},
    {3, "range", 16, run_range},
};

} // namespace

const ExecOperation *find_operation(uint32_t id) {
  for (const ExecOperation &operation : operations)
    if (operation.id == id)
      return &operation;
  return nullptr;
}

} // namespace xiokv::emulator
