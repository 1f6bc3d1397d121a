// SPDX-License-Identifier: MIT
#include "table.h"

namespace amdgpu {

const Table &all_instructions() {
  static const Table table = [] {
    Table all;
    for (auto add : {add_scalar, add_scalar_float, add_scalar_control,
                     add_vector_integer, add_vector_wide, add_vector_packed,
                     add_vector_compare, add_vector_float, add_vector_across,
                     add_memory, add_shared, add_fences})
      add(all);
    return all;
  }();
  return table;
}

} // namespace amdgpu
