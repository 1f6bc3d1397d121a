// SPDX-License-Identifier: MIT
/// @file
/// @brief Walk all keys of a namespace by List, page after page.
///
/// Controllers differ: the order is theirs, and some go on from the first key
/// after the last. Every key is remembered until the end, because only a page
/// without a new key tells that a controller goes round in a circle.
#pragma once

#include "context.h"

namespace xiokv::host {

/// @brief Call `each` with every key from `start` on, each once; return what it
/// ended the walk with, or 0.
int walk_keys(Context &context, const xiokv_key &start, xiokv_each each,
              void *argument);

} // namespace xiokv::host
