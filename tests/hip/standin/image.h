// SPDX-License-Identifier: MIT
/// @file
/// @brief Copies of code objects of which only the address is known.
#pragma once

#include <cstdint>
#include <vector>

namespace standin {

/// @brief Copy the ELF that begins at an address, as long as its own headers
/// say it is. Fails with hipErrorInvalidImage where there is none, or where it
/// runs into memory that cannot be read.
std::vector<uint8_t> copy_image(const void *address);

} // namespace standin
