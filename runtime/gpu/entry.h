// SPDX-License-Identifier: MIT
/// @file
/// @brief Kernels that run beside the engine's, on the engine's platform.
///
/// Each workgroup works alone, so that it may end when it likes.
#pragma once

#include "xiokv/kv_platform.h"

/// @brief The entry of a kernel: workgroup `group` runs `run(arguments,
/// group)`.
#if defined(__AMDGCN__)
#define XIOKV_DEFINE_ENTRY(name, Arguments, run)                               \
  XIOKV_KERNEL name(const Arguments arguments) {                               \
    run(arguments, __builtin_amdgcn_workgroup_id_x());                         \
  }
#elif defined(__CUDACC__)
#define XIOKV_DEFINE_ENTRY(name, Arguments, run)                               \
  XIOKV_KERNEL name(const Arguments arguments) { run(arguments, blockIdx.x); }
#else
#define XIOKV_DEFINE_ENTRY(name, Arguments, run)                               \
  extern "C" void name(const Arguments *arguments, uint32_t group) {           \
    run(*arguments, group);                                                    \
  }
#endif

/// @brief An address as a pointer.
template <class Object> XIOKV_DEVICE Object *xiokv_at(uint64_t address) {
  return reinterpret_cast<Object *>(static_cast<uintptr_t>(address));
}

/// @brief A word that others write, read anew by the first lane for its wave:
/// as many lanes would send as many reads over the bus.
template <bool acquires> XIOKV_DEVICE uint64_t xiokv_look(uint64_t address) {
  uint64_t word = 0;
  if (xiokv_wave_lane() == 0) {
#if defined(__AMDGCN__)
    word = __hip_atomic_load(xiokv_at<const uint64_t>(address),
                             acquires ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED,
                             __HIP_MEMORY_SCOPE_SYSTEM);
#elif defined(__CUDACC__)
    if (acquires)
      asm volatile("ld.acquire.sys.u64 %0, [%1];"
                   : "=l"(word)
                   : "l"(address)
                   : "memory");
    else
      asm volatile("ld.relaxed.sys.u64 %0, [%1];"
                   : "=l"(word)
                   : "l"(address)
                   : "memory");
#else
    word = __atomic_load_n(xiokv_at<const uint64_t>(address), __ATOMIC_ACQUIRE);
#endif
  }
  return word;
}

/// @brief Such a word; nothing is said of what was written before it.
XIOKV_DEVICE uint64_t xiokv_peek(uint64_t address) {
  return xiokv_look<false>(address);
}

/// @brief The same; what was written before the word is there for later loads.
/// A fence after it would wait for all that the multiprocessor has under way.
XIOKV_DEVICE uint64_t xiokv_peek_acquire(uint64_t address) {
  return xiokv_look<true>(address);
}

/// @brief What the first lane has, for all of the wave.
XIOKV_DEVICE uint64_t xiokv_share(uint64_t word) {
  const uint32_t low = xiokv_first_lane(static_cast<uint32_t>(word));
  const uint32_t high = xiokv_first_lane(static_cast<uint32_t>(word >> 32));
  return low | static_cast<uint64_t>(high) << 32;
}

/// @brief Rest between two looks, for about so many nanoseconds where the
/// device can: all that its multiprocessor has under way comes to an end
/// meanwhile.
XIOKV_DEVICE void xiokv_rest(uint32_t nanoseconds) {
#if defined(__CUDACC__) && !defined(__AMDGCN__)
  asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds) : "memory");
#else
  (void)nanoseconds;
  xiokv_pause();
#endif
}

/// @brief A fence that suffices for stores to the device's own memory before
/// the CPU is told of them: it need not see them, but what runs on the device
/// afterwards.
XIOKV_DEVICE void xiokv_release_device() {
#if defined(__CUDACC__) && !defined(__AMDGCN__)
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
#else
  xiokv_release_system();
#endif
}
