// SPDX-License-Identifier: MIT
/// @file
/// @brief Admin commands as a host builds them, and what a controller says it
/// is.
#pragma once

#include <cstddef>
#include <functional>

#include "xiokv.h"

namespace xiokv::host {

/// @brief Carries out an entry of 64 bytes with so many bytes of data at its
/// PRP1; fills in a completion of 16 bytes. A Fault where it cannot.
using Execute =
    std::function<void(const uint8_t *sqe, uint32_t data_size, uint8_t *cqe)>;

/// @brief An admin command.
struct AdminCommand {
  const char *name; ///< For messages.
  uint8_t opcode;
  uint32_t nsid = 0;
  uint64_t prp1 = 0;
  uint32_t data_size = 0;
  uint32_t cdw10 = 0;
  uint32_t cdw11 = 0;
};

/// @brief Carry out a command; return its DW0. A Fault that names the status
/// where it did not succeed.
uint32_t carry_out_admin(const Execute &execute, const AdminCommand &command);

/// @brief The status (SC, and SCT above it) of a command, and its DW0.
uint32_t admin_status(const Execute &execute, const AdminCommand &command,
                      uint32_t &dw0);

/// @brief Read what a namespace allows, save the number of queues; a Fault
/// where it is not key-value.
/// @param cap Controller capabilities, CAP.
/// @param cc Controller configuration, CC.
xiokv_controller_limits identify(const Execute &execute, uint32_t nsid,
                                 uint64_t cap, uint32_t cc);

} // namespace xiokv::host
