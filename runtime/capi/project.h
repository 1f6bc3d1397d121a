// SPDX-License-Identifier: MIT
/// @file
/// @brief A user's project, as far as its modules go.
#pragma once

#include <string>

namespace xiokv::host {

/// @brief The folder that holds the modules of the nearest xiokv.toml; empty
/// where no project governs the working folder. A Fault where its file names a
/// folder in a way that is not read here.
std::string compile_folder();

} // namespace xiokv::host
