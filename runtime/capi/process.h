// SPDX-License-Identifier: MIT
/// @file
/// @brief What a process has once: a lock that survives a fork, and threads.
#pragma once

#include <functional>
#include <mutex>

namespace xiokv::host {

/// @brief Guards the tables of the process; nobody waits or calls out under it.
std::mutex &process_mutex();

/// @brief Counts forks: what was made under another number is of a parent.
unsigned generation();

/// @brief Start a thread that takes no signals and that nobody joins.
/// @return Whether the system gave one.
bool start_thread(const char *name, std::function<void()> work);

} // namespace xiokv::host
