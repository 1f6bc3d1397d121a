// SPDX-License-Identifier: MIT
/// @file
/// @brief What one unit for each copy gives to the program that links them.
#pragma once

#include <stdint.h>

/// @brief The word for an opcode, by one copy.
const char *acme_word(uint8_t opcode);
const char *storage_word(uint8_t opcode);
const char *plain_word(uint8_t opcode);

/// @brief How many keys of a batch on a dead queue one copy's engine gives up.
int acme_given_up();
int storage_given_up();
