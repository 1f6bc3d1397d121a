// SPDX-License-Identifier: MIT
/// @file
/// @brief What checks say, and what they look at.
#pragma once

#include "bench.h"

/// @brief Name of an outcome, in lower case.
const char *outcome_name(uint8_t outcome);

/// @brief Bytes as hexadecimal digits.
std::string hex(const Bytes &bytes);

/// @brief Whether no byte was written since the buffer was made.
bool is_poison(const Bytes &bytes);
