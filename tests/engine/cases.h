// SPDX-License-Identifier: MIT
/// @file
/// @brief Cases that the engine must hold, each with what exactly comes of it.
#pragma once

#include <functional>
#include <vector>

#include "tally.h"
#include "workgroups.h"

struct Case {
  const char *name;
  /// Run it; throws what derives from std::exception where it does not hold.
  std::function<void(Workgroups &, uint64_t seed, Tally &)> run;
};

extern const std::vector<Case> cases;
