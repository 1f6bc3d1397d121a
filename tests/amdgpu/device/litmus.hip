// SPDX-License-Identifier: MIT
/// @file
/// @brief Small programs whose outcome depends on the order of memory.
///
/// All lanes of the one wave of a group do the same on words of their own; a
/// lane's data lie a cache's line apart from its neighbours'.
#include "device.h"

constexpr uint32_t line = 64; // Dwords.

/// Data for the host, then the flag.
KERNEL to_host(uint32_t *data, uint32_t *flag) {
  data[line * lane()] = 1;
  RELEASE(SYSTEM);
  if (lane() == 0)
    STORE(flag, 1u, SYSTEM);
}

/// Data from the host, that an old copy was made of, after its flag.
KERNEL from_host(const uint32_t *data, uint32_t *flag, uint32_t *seen) {
  const uint32_t old = data[line * lane()];
  seen[lanes() + lane()] = old;
  while (LOAD(flag, SYSTEM) == 0)
    __builtin_amdgcn_s_sleep(1);
  ACQUIRE(SYSTEM);
  seen[lane()] = data[line * lane()];
}

/// From group 0 to group 1.
KERNEL between_groups(uint32_t *data, uint32_t *flag, uint32_t *seen) {
  if (group() == 0) {
    data[line * lane()] = 1;
    RELEASE(AGENT);
    if (lane() == 0)
      STORE(flag, 1u, AGENT);
    return;
  }
  seen[lanes() + lane()] = data[line * lane()];
  while (LOAD(flag, AGENT) == 0)
    __builtin_amdgcn_s_sleep(1);
  ACQUIRE(AGENT);
  seen[lane()] = data[line * lane()];
}

/// Among the waves of a group, through memory. Lanes take from a place that
/// another wave has written, and that a copy of was made before.
KERNEL between_waves(uint32_t *data, uint32_t *seen) {
  const uint32_t other = lanes() - 1 - lane();
  seen[lanes() + lane()] = data[line * other];
  barrier();
  data[line * lane()] = 1;
  barrier();
  seen[lane()] = data[line * other];
}

/// The same, through LDS; 128 lanes.
KERNEL through_lds(uint32_t *seen) {
  SHARED uint32_t shared[128];
  seen[lane()] = 0;
  shared[lane()] = 0;
  barrier();
  shared[lane()] = 1;
  barrier();
  seen[lane()] = shared[lane() ^ 64];
}

/// A wave's own stores, read back without any fence.
KERNEL own_stores(uint32_t *data, uint32_t *seen) {
  volatile uint32_t *own = data + line * lane();
  for (uint32_t i = 0; i < 4; ++i)
    *own = *own + i;
  seen[lane()] = *own;
}

typedef uint32_t Quad __attribute__((ext_vector_type(4)));

/// 16 bytes at once, that the host writes again and again.
KERNEL wide_load(const Quad *from, Quad *seen) {
  seen[lane()] = *static_cast<const volatile Quad *>(from);
}

/// Every lane adds one to a word of the device.
KERNEL count(uint32_t *word, uint32_t *before) {
  before[group() * lanes() + lane()] = __hip_atomic_fetch_add(
      word, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

/// Groups wait for one another: each for its turn.
KERNEL in_turns(uint32_t *turn, uint32_t *seen) {
  if (lane() == 0) {
    while (LOAD(turn, AGENT) != group())
      __builtin_amdgcn_s_sleep(1);
    ACQUIRE(AGENT);
    seen[group()] = group() == 0 ? 1 : seen[group() - 1] + 1;
    RELEASE(AGENT);
    STORE(turn, group() + 1, AGENT);
  }
}
