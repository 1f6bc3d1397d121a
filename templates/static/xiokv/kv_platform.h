// SPDX-License-Identifier: MIT
/// @file
/// @brief What the batch engine needs of a machine, under one set of names.
///
/// A platform header defines, all lanes of a workgroup calling together where
/// it says so:
/// - XIOKV_DEVICE: what stands before a function; XIOKV_CONSTANT: before a
///   variable that the runtime reads from the module.
/// - XIOKV_NO_UNROLL: what stands before a loop that is to stay one: code that
///   is not in the instruction cache yet costs more than a jump.
/// - XIOKV_SHARED_VARIABLE(type, name): a variable of the workgroup.
/// - XIOKV_DEFINE_KERNEL(command): the entry that runs xiokv_op_<command>.
/// - XIOKV_LANES: lanes of a workgroup. XIOKV_WAVES: not below its waves.
/// - XIOKV_SHARED_WINDOW: largest window with tables in shared memory, or 0.
/// - xiokv_lane, xiokv_wave, xiokv_wave_lane, xiokv_wave_width: who I am.
/// - xiokv_ballot, xiokv_first_lane: a vote and a broadcast; all of the wave.
/// - xiokv_uniform: a value that is the same in all lanes of the wave, told so.
/// - xiokv_wave_barrier: orders what lanes of a wave do to shared memory; all
/// of
///   the wave.
/// - xiokv_barrier: release and acquire at workgroup scope; all lanes.
/// - xiokv_load16, xiokv_store16, xiokv_store32, xiokv_store64: memory that the
///   controller shares; a store is ordered by xiokv_release_system alone.
/// - xiokv_load16_if: the load by the lanes for which a condition holds,
/// without
///   a branch to wait at; zero in the others. xiokv_read16_if: the same, of
///   memory that nobody writes meanwhile. xiokv_peek32_if: the same, of dword 0
///   or 3 alone.
/// - xiokv_hold: keeps all words of a load up to here, given a zero that the
///   compiler does not know. It would give the register of a word that nobody
///   uses to others, who would then wait for the load.
/// - XIOKV_EARLY_ACQUIRE: whether xiokv_release_system acquires too, and
///   xiokv_acquire32_if, which acquires at system scope, costs less than
///   xiokv_peek32_if and a fence.
/// - XIOKV_SERIAL_LOADS: whether what a wave loads nearby, or from memory that
///   may be shared, waits for what it has loaded from the host before.
/// - xiokv_release_system, xiokv_acquire_system: fences that reach the
///   controller, for the calling wave.
/// - xiokv_shared_add, xiokv_shared_swap_if: atomics of the workgroup.
///   xiokv_device_add32, xiokv_device_add64: atomics of the device.
/// - xiokv_clock: a counter of constant rate. xiokv_pause: a hint while
///   waiting, with the number of times in a row, the commands of the batch that
///   completed so far, and those in flight.
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

/// @brief Zero bits above the highest set one; `word` is not 0.
XIOKV_DEVICE uint32_t xiokv_leading_zeros(uint32_t word) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__clz(static_cast<int>(word)));
#else
  return static_cast<uint32_t>(__builtin_clz(word));
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
