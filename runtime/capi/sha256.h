// SPDX-License-Identifier: MIT
/// @file
/// @brief SHA-256 (FIPS 180-4), by which a module's file is known to be whole.
#pragma once

#include <string>

namespace xiokv::host {

/// @brief The hash of some bytes, as 64 hexadecimal digits.
std::string sha256(const std::string &bytes);

} // namespace xiokv::host
