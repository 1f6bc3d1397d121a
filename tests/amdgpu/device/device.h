// SPDX-License-Identifier: MIT
/// @file
/// @brief What the tests' kernels are written with: compiler builtins only.
#pragma once

#include <stdint.h>

#define KERNEL extern "C" __attribute__((global)) void
#define SHARED __attribute__((shared))
#define DEVICE                                                                 \
  static inline __attribute__((device)) __attribute__((always_inline))

// Scopes of fences, as clang names them.
#define SYSTEM ""
#define AGENT "agent"
#define WORKGROUP "workgroup"

#define RELEASE(scope) __builtin_amdgcn_fence(__ATOMIC_RELEASE, scope)
#define ACQUIRE(scope) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, scope)

DEVICE uint32_t lane() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE uint32_t group() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE uint32_t lanes() { return __builtin_amdgcn_workgroup_size_x(); }

DEVICE void barrier() {
  RELEASE(WORKGROUP);
  __builtin_amdgcn_s_barrier();
  ACQUIRE(WORKGROUP);
}

/// @brief Relaxed accesses that others see, at a scope of __HIP_MEMORY_SCOPE_.
#define LOAD(address, scope)                                                   \
  __hip_atomic_load(address, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##scope)
#define STORE(address, value, scope)                                           \
  __hip_atomic_store(address, value, __ATOMIC_RELAXED,                         \
                     __HIP_MEMORY_SCOPE_##scope)
