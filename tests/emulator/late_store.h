// SPDX-License-Identifier: MIT
/// @file
/// @brief A queue on a store that answers late and in another order.
#pragma once

/// @brief Check it; ends the program with a message where something is wrong.
void check_late_store();
