// SPDX-License-Identifier: MIT
/// @file
/// @brief The vendor command Exec: its data begin with the key, and its output
/// comes back into the same buffer.
#pragma once

#include "commands.h"

namespace xiokv::emulator {

/// @brief Read what the host sent, and make the request for the value.
Status begin_exec(Command &command, const Namespace &space);

/// @brief Run the operation on the value, and write its output.
Outcome finish_exec(Command &command, const Reply &reply,
                    const Namespace &space);

/// @brief The key of any command, wherever it is; of an Exec whose data cannot
/// be read, or have a key that no value has, one of no bytes.
Key key_of(const Sqe &sqe, const Namespace &space);

} // namespace xiokv::emulator
