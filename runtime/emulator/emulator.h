// SPDX-License-Identifier: MIT
/// @file
/// @brief The controller's interface, which is among the project's headers.
#pragma once

#include "../../generated/include/xiokv_emulator.h"
