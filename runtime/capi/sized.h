// SPDX-License-Identifier: MIT
/// @file
/// @brief Structures that state their own size, of this version or another.
#pragma once

#include <algorithm>
#include <cstring>

#include "fault.h"

namespace xiokv::host {

/// @brief Size of a structure in the first version of the library. One that has
/// grown since states here what it was.
template <class Structure> constexpr size_t first_size = sizeof(Structure);

/// @brief Take a structure in. Members that a caller of an older version does
/// not know are 0; those of a newer one have to be.
/// @param given Begins with its size as a uint32_t; NULL: all 0.
/// @param name Of the argument, for messages.
template <class Structure>
Structure sized(const Structure *given, const char *name) {
  Structure taken = {};
  if (given == nullptr)
    return taken;
  const size_t size = given->struct_size;
  const auto *const bytes = reinterpret_cast<const unsigned char *>(given);
  if (size < first_size<Structure> ||
      std::any_of(
          bytes + std::min(size, sizeof taken), bytes + size,
          [](unsigned char byte) { return byte != 0; }))
    refuse(XIOKV_E_ARGUMENT,
           "%s->struct_size is %zu; set it to the sizeof of the structure, %zu "
           "here, and members that this version does not know to 0",
           name, size, sizeof taken);
  memcpy(&taken, given, std::min(size, sizeof taken));
  return taken;
}

/// @brief The same for a structure that has to be there.
template <class Structure>
Structure sized_needed(const Structure *given, const char *name) {
  need(given, name);
  return sized(given, name);
}

} // namespace xiokv::host
