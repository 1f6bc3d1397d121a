// SPDX-License-Identifier: MIT
/// @file
/// @brief What the batch engine needs of a machine, under one set of names.
///
/// A platform header defines:
/// - XIOKV_DEVICE, XIOKV_SHARED, XIOKV_CONSTANT: function and storage
///   qualifiers;
/// - XIOKV_DEFINE_KERNEL(command): the entry that runs xiokv_op_<command>;
/// - XIOKV_LANES: lanes of a workgroup; XIOKV_WAVES: an upper bound of its
/// waves;
/// - XIOKV_SHARED_WINDOW: largest window whose tables fit shared memory, or 0;
/// - lane, wave and vote: xiokv_lane, xiokv_wave, xiokv_wave_lane,
///   xiokv_wave_width, xiokv_ballot, xiokv_first_lane;
/// - xiokv_barrier: all lanes, with release and acquire at workgroup scope;
/// - xiokv_release_system, xiokv_acquire_system: fences that reach the
///   controller; xiokv_release_device, xiokv_acquire_device: other workgroups;
/// - memory the controller shares: xiokv_load16, xiokv_store16, xiokv_store32;
/// - atomics: xiokv_shared_add, xiokv_shared_swap_if, xiokv_device_add32,
///   xiokv_device_add64;
/// - xiokv_clock: a counter of constant rate, in ticks; xiokv_pause: a hint in
/// a
///   loop that waits.
///
/// No primitive traps, prints or calls a device library. Tests name another
/// platform in XIOKV_PLATFORM_HEADER.
#pragma once

#include <stdint.h>

/// @brief Sixteen bytes that move in one access where the machine can.
struct alignas(16) xiokv_words {
  uint32_t word[4];
};

#if defined(XIOKV_PLATFORM_HEADER)
#include XIOKV_PLATFORM_HEADER
#elif defined(__AMDGCN__)
#include "xiokv/platform/amdgcn.h"
#elif defined(__CUDA_ARCH__) || defined(__CUDACC__)
#include "xiokv/platform/cuda.h"
#else
#include "xiokv/platform/host.h"
#endif

/// @brief Set bits of a vote.
XIOKV_DEVICE uint32_t xiokv_count_ones(uint64_t votes) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__popcll(static_cast<long long>(votes)));
#else
  return static_cast<uint32_t>(__builtin_popcountll(votes));
#endif
}

/// @brief Set bits below the lowest clear one.
XIOKV_DEVICE uint32_t xiokv_leading_run(uint64_t votes) {
  if (~votes == 0)
    return 64;
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__ffsll(static_cast<long long>(~votes))) - 1u;
#else
  return static_cast<uint32_t>(__builtin_ctzll(~votes));
#endif
}
