// SPDX-License-Identifier: MIT
/// @file
/// @brief The data structures that Identify returns.
#pragma once

#include <array>
#include <cstdint>

#include "config.h"
#include "status.h"
#include "value_store.h"

namespace xiokv::emulator {

constexpr size_t identify_bytes = 4096;
using IdentifyData = std::array<uint8_t, identify_bytes>;

/// @brief Fill in the structure that a CNS value names.
/// @param csi Command set that the command asks for.
Status identify(uint8_t cns, uint8_t csi, uint32_t nsid, const Config &config,
                const Usage &usage, IdentifyData &data);

} // namespace xiokv::emulator
