// SPDX-License-Identifier: MIT
/// @file
/// @brief Kernels for what is around instructions: addresses, launches, and
/// rules of the machine that they break.
#include "device.h"

KERNEL endless(uint32_t *word) {
  while (LOAD(word, SYSTEM) == 0)
    __builtin_amdgcn_s_sleep(1);
}

KERNEL store_to(uint32_t *word) { word[lane()] = 7; }

KERNEL load_from(const uint32_t *word, uint32_t *to) {
  to[lane()] = word[lane()];
}

KERNEL misaligned_atomic(uint8_t *place) {
  __hip_atomic_fetch_add(reinterpret_cast<uint32_t *>(place), 1u,
                         __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

/// An instruction that the machine does not know, for those who ask for it.
KERNEL unknown(uint32_t asked, float *to) {
  if (asked)
    to[lane()] = __builtin_amdgcn_sinf(to[lane()]);
}

KERNEL traps() { __builtin_trap(); }

/// Only some waves reach the barrier.
KERNEL divergent_barrier(uint32_t waves) {
  if (__builtin_amdgcn_readfirstlane(static_cast<int>(lane())) <
      static_cast<int>(waves * __builtin_amdgcn_wavefrontsize()))
    __builtin_amdgcn_s_barrier();
}

extern "C" SHARED uint32_t dynamic[];

KERNEL shared_word(uint32_t index, uint32_t *to) {
  dynamic[index] = 5;
  to[lane()] = dynamic[index];
}

/// A local array with an index that no compiler knows.
KERNEL local_array(uint32_t *to, uint32_t salt) {
  volatile uint32_t array[16];
  for (uint32_t i = 0; i < 16; ++i)
    array[i] = i * i + salt;
  array[(lane() + salt) % 16] = array[lane() % 16] + 1000;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 16; ++i)
    sum = sum * 3 + array[(i * lane() + salt) % 16];
  to[lane()] = sum;
}

__attribute__((device)) uint32_t counter = 41;

KERNEL global_variable(uint32_t *to) {
  if (lane() == 0)
    *to = ++counter;
}

/// A pointer that may be to anything, and is to LDS or to memory.
KERNEL generic_pointer(uint32_t *memory, uint32_t *to) {
  SHARED uint32_t shared[64];
  shared[lane() % 64] = 100 + lane();
  memory[lane()] = 200 + lane();
  barrier();
  const uint32_t *from = lane() % 2 ? &shared[lane() % 64] : &memory[lane()];
  to[lane()] = *from;
}

/// Where a lane is.
KERNEL places(uint32_t *to) {
  const uint32_t x = __builtin_amdgcn_workitem_id_x();
  const uint32_t y = __builtin_amdgcn_workitem_id_y();
  const uint32_t z = __builtin_amdgcn_workitem_id_z();
  const uint32_t width = __builtin_amdgcn_workgroup_size_x();
  const uint32_t height = __builtin_amdgcn_workgroup_size_y();
  const uint32_t depth = __builtin_amdgcn_workgroup_size_z();
  const uint32_t group = __builtin_amdgcn_workgroup_id_x() +
                         2 * (__builtin_amdgcn_workgroup_id_y() +
                              3 * __builtin_amdgcn_workgroup_id_z());
  const uint32_t i = x + width * (y + height * (z + depth * group));
  to[i] = x | y << 8 | z << 16 | group << 24;
}

/// Two readings of the clock, and 20 instructions or more between them.
KERNEL clocks(uint64_t *to) {
  to[0] = __builtin_readsteadycounter();
  for (uint32_t i = 0; i < 5; ++i)
    __builtin_amdgcn_s_sleep(1);
  to[1] = __builtin_readsteadycounter();
}

KERNEL values(uint8_t a, uint64_t b, uint16_t c, uint64_t *to) {
  to[0] = a;
  to[1] = b;
  to[2] = c;
}

/// A function that is called, calls itself, and keeps things in memory.
__attribute__((device)) __attribute__((noinline)) uint32_t
fibonacci(uint32_t n, volatile uint32_t *calls) {
  volatile uint32_t kept[2] = {n, 1};
  *calls = *calls + kept[1];
  if (n < 2)
    return kept[0];
  return fibonacci(n - 1, calls) + fibonacci(kept[0] - 2, calls);
}

KERNEL called(uint32_t *to, uint32_t *calls) {
  to[lane()] = fibonacci(lane() % 7, calls + lane());
}

/// A call to who knows where, for which a kernel asks for all there is.
KERNEL indirect(void (*function)(uint32_t *), uint32_t *to) { function(to); }
