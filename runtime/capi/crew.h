// SPDX-License-Identifier: MIT
/// @file
/// @brief Threads that are used again; as many as were ever needed at once.
#pragma once

#include <cstdint>
#include <functional>

namespace xiokv::host {

/// @brief Call `part` with 0 to `count` - 1, each on a thread of its own, the
/// calling one among them; return when all have ended.
/// @return How many had to share the calling thread, because the system gave no
/// more.
uint32_t run_on_crew(uint32_t count, const std::function<void(uint32_t)> &part);

} // namespace xiokv::host
