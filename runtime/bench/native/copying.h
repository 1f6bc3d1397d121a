// SPDX-License-Identifier: MIT
/// @file
/// @brief How a client on the CPU hands a GPU what it has retrieved.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// @brief A vendor's asynchronous copy to its device, and the wait for it; each
/// returns 0.
struct bench_copier {
  int (*copy)(uint64_t to, const void *from, size_t bytes, void *stream);
  int (*wait)(void *stream);
  void *stream;
  uint64_t to;        ///< Where the first value goes; others follow on.
  uint32_t per_value; ///< 1: a copy for each value as it comes; 0: one for all.
  uint32_t reserved;
};
