// SPDX-License-Identifier: MIT
#include "handles.h"

#include <atomic>

namespace xiokv::host {

uintptr_t next_handle() {
  constexpr uintptr_t step = 16;
  static std::atomic<uintptr_t> last{0};
  return last += step;
}

} // namespace xiokv::host
