// SPDX-License-Identifier: MIT
/// @file
/// @brief What an I/O command must look like before anything is done for it.
#pragma once

#include "command.h"
#include "status.h"

namespace xiokv::emulator {

/// @brief Check opcode, namespace, key length and, in strict mode, every bit
/// that the command leaves reserved.
Status validate(const Sqe &sqe, const Config &config);

} // namespace xiokv::emulator
