// SPDX-License-Identifier: MIT
/// @file
/// @brief From a submission queue entry to what the NVMe driver's ioctl takes.
#pragma once

#include <linux/nvme_ioctl.h>

#include "../emulator/command.h"

namespace xiokv::passthrough {

using emulator::Opcode;
using emulator::Sqe;

/// @brief Which way a command's data goes, which have the size in CDW10.
enum class Direction { none, to_device, from_device, unknown };

/// @brief That of a key-value command. How much data any other moves is not
/// known, and a call that says too little lets the device write past it.
constexpr Direction direction(uint8_t opcode) {
  switch (static_cast<Opcode>(opcode)) {
  case Opcode::store:
    return Direction::to_device;
  case Opcode::retrieve:
  case Opcode::list:
    return Direction::from_device;
  case Opcode::erase:
  case Opcode::exist:
    return Direction::none;
  case Opcode::exec: // both ways, which the driver does not offer
    break;
  }
  return Direction::unknown;
}

/// @brief The call's argument for a command; all dwords but CDW0, the NSID and
/// the data pointer go as they are.
/// @param data The data, or NULL.
inline nvme_passthru_cmd64 make_request(const Sqe &sqe, uint32_t nsid,
                                        void *data, uint32_t data_len,
                                        uint32_t timeout_ms) {
  nvme_passthru_cmd64 request = {};
  request.opcode = sqe.opcode();
  request.nsid = nsid;
  request.cdw2 = sqe.dword(2);
  request.cdw3 = sqe.dword(3);
  request.addr = reinterpret_cast<uintptr_t>(data);
  request.data_len = data_len;
  request.cdw10 = sqe.dword(10);
  request.cdw11 = sqe.dword(11);
  request.cdw12 = sqe.dword(12);
  request.cdw13 = sqe.dword(13);
  request.cdw14 = sqe.dword(14);
  request.cdw15 = sqe.dword(15);
  request.timeout_ms = timeout_ms;
  return request;
}

} // namespace xiokv::passthrough
