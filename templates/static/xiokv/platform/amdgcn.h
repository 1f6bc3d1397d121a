// SPDX-License-Identifier: MIT
/// @file
/// @brief The engine's platform on AMD GPUs: clang builtins only, no device
/// library, so that plain clang builds code objects without ROCm.
///
/// A volatile 16-byte load compiles to one flat_load_dwordx4 (flat_load_b128)
/// that bypasses the caches at system scope.
#pragma once

#define XIOKV_DEVICE                                                           \
  static inline __attribute__((device)) __attribute__((always_inline))
#define XIOKV_CONSTANT __attribute__((device)) __attribute__((used))
#define XIOKV_LANES 256u
#define XIOKV_WAVES 8u
#define XIOKV_KERNEL                                                           \
  extern "C" __attribute__((global))                                           \
  __attribute__((amdgpu_flat_work_group_size(256, 256))) void
#define XIOKV_NO_UNROLL _Pragma("clang loop unroll(disable)")
#define XIOKV_SHARED_VARIABLE(type, name) __attribute__((shared)) type name
#define XIOKV_SHARED_WINDOW 1024u
#define XIOKV_EARLY_ACQUIRE 0
#define XIOKV_SERIAL_LOADS 0

XIOKV_DEVICE uint32_t xiokv_lane() { return __builtin_amdgcn_workitem_id_x(); }
XIOKV_DEVICE uint32_t xiokv_wave_width() {
  return __builtin_amdgcn_wavefrontsize();
}
XIOKV_DEVICE uint32_t xiokv_wave() { return xiokv_lane() / xiokv_wave_width(); }
XIOKV_DEVICE uint32_t xiokv_wave_lane() {
  return xiokv_lane() % xiokv_wave_width();
}
XIOKV_DEVICE uint64_t xiokv_ballot(bool vote) {
#if defined(__GFX9__)
  return __builtin_amdgcn_ballot_w64(vote);
#else
  return __builtin_amdgcn_ballot_w32(vote);
#endif
}
XIOKV_DEVICE uint32_t xiokv_first_lane(uint32_t value) {
  return static_cast<uint32_t>(
      __builtin_amdgcn_readfirstlane(static_cast<int>(value)));
}

XIOKV_DEVICE uint32_t xiokv_uniform(uint32_t value) {
  return xiokv_first_lane(value);
}

/// @brief Kernel arguments at the same address, read anew from here on: a loop
/// would keep more of them in scalar registers than there are.
template <class Arguments>
XIOKV_DEVICE const Arguments *xiokv_anew(const Arguments *arguments) {
  auto constant =
      (const __attribute__((address_space(4))) Arguments *)arguments;
  asm volatile("" : "+s"(constant));
  return (const Arguments *)constant;
}

/// @brief The lanes of a wave run together; the compiler has to be told.
XIOKV_DEVICE void xiokv_wave_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

/// @brief A barrier does not wait for other waves' stores by itself.
XIOKV_DEVICE void xiokv_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

XIOKV_DEVICE void xiokv_release_system() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "");
}
XIOKV_DEVICE void xiokv_acquire_system() {
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "");
}

/// @brief Four dwords as the code generator's own vector.
typedef uint32_t xiokv_vector __attribute__((ext_vector_type(4)));

XIOKV_DEVICE xiokv_words xiokv_load16(const void *address) {
  const xiokv_vector v = *static_cast<const volatile xiokv_vector *>(address);
  return xiokv_words{{v.x, v.y, v.z, v.w}};
}

XIOKV_DEVICE xiokv_words xiokv_load16_if(bool condition, const void *address) {
  return condition ? xiokv_load16(address) : xiokv_words{};
}

XIOKV_DEVICE xiokv_words xiokv_read16_if(bool condition, const void *address) {
  return condition ? *static_cast<const xiokv_words *>(address) : xiokv_words{};
}

XIOKV_DEVICE uint32_t xiokv_acquire32_if(bool condition, const void *address,
                                         uint32_t dword) {
  if (!condition)
    return 0;
  return __hip_atomic_load(static_cast<const uint32_t *>(address) + dword,
                           __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
}

XIOKV_DEVICE uint32_t xiokv_peek32_if(bool condition, const void *address,
                                      uint32_t dword) {
  const xiokv_words words = xiokv_load16_if(condition, address);
  return dword == 3 ? words.word[3] : words.word[0];
}

XIOKV_DEVICE xiokv_words xiokv_hold(const xiokv_words &words, uint32_t) {
  return words;
}

XIOKV_DEVICE void xiokv_store16(void *address, xiokv_words words) {
  const xiokv_vector v = {words.word[0], words.word[1], words.word[2],
                          words.word[3]};
  *static_cast<xiokv_vector *>(address) = v;
}

XIOKV_DEVICE void xiokv_store64(void *address, uint64_t value) {
  *static_cast<uint64_t *>(address) = value;
}

XIOKV_DEVICE void xiokv_store32(void *address, uint32_t value) {
  __hip_atomic_store(static_cast<uint32_t *>(address), value, __ATOMIC_RELAXED,
                     __HIP_MEMORY_SCOPE_SYSTEM);
}

XIOKV_DEVICE uint32_t xiokv_shared_add(uint32_t *address, uint32_t value) {
  return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED,
                                __HIP_MEMORY_SCOPE_WORKGROUP);
}

XIOKV_DEVICE bool xiokv_shared_swap_if(uint32_t *address, uint32_t expected,
                                       uint32_t value) {
  return __hip_atomic_compare_exchange_strong(
      address, &expected, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
      __HIP_MEMORY_SCOPE_WORKGROUP);
}

XIOKV_DEVICE uint32_t xiokv_device_add32(uint32_t *address, uint32_t value) {
  return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED,
                                __HIP_MEMORY_SCOPE_AGENT);
}

XIOKV_DEVICE uint64_t xiokv_device_add64(uint64_t *address, uint64_t value) {
  return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED,
                                __HIP_MEMORY_SCOPE_AGENT);
}

/// @brief Ticks of the constant-rate counter; its rate is the device attribute
/// "wall clock rate". Never the cycle counter, which has 20 bits on gfx11.
XIOKV_DEVICE uint64_t xiokv_clock() {
#if __has_builtin(__builtin_readsteadycounter)
  return __builtin_readsteadycounter();
#elif defined(__GFX9__) || defined(__GFX10__)
  return __builtin_amdgcn_s_memrealtime();
#else
  return __builtin_amdgcn_s_sendmsg_rtnl(0x83);
#endif
}

XIOKV_DEVICE void xiokv_pause(uint32_t = 1, uint32_t = 0, uint32_t = 1) {
  __builtin_amdgcn_s_sleep(1);
}

/// @brief The entry of a command: a workgroup runs its queue of the batch. The
/// batch is read where the launch put it, not from a copy.
#define XIOKV_DEFINE_KERNEL(command)                                           \
  XIOKV_KERNEL xiokv_batch_##command(const xiokv_batch) {                      \
    xiokv_run_batch<xiokv_op_##command>(                                       \
        *(const xiokv_batch *)__builtin_amdgcn_kernarg_segment_ptr(),          \
        __builtin_amdgcn_workgroup_id_x());                                    \
  }
