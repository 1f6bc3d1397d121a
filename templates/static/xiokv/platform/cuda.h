// SPDX-License-Identifier: MIT
/// @file
/// @brief The engine's platform on NVIDIA GPUs.
///
/// System fences are fence.acq_rel.sys: __threadfence_system compiles to a
/// sequentially consistent one, which costs more.
#pragma once

#define XIOKV_DEVICE static __device__ __forceinline__
#define XIOKV_CONSTANT __device__
#define XIOKV_LANES 256u
#define XIOKV_WAVES 8u
// One block a multiprocessor will do: what a look needs stays in registers.
#define XIOKV_KERNEL extern "C" __global__ __launch_bounds__(256, 1) void
#define XIOKV_NO_UNROLL _Pragma("unroll 1")
#define XIOKV_SHARED_VARIABLE(type, name) __shared__ type name
#define XIOKV_SHARED_WINDOW 1024u
#define XIOKV_EARLY_ACQUIRE 1
#define XIOKV_SERIAL_LOADS 1

XIOKV_DEVICE uint32_t xiokv_lane() { return threadIdx.x; }
XIOKV_DEVICE uint32_t xiokv_wave_width() { return 32; }
XIOKV_DEVICE uint32_t xiokv_wave() { return threadIdx.x / 32u; }
XIOKV_DEVICE uint32_t xiokv_wave_lane() { return threadIdx.x % 32u; }
XIOKV_DEVICE uint64_t xiokv_ballot(bool vote) {
  return __ballot_sync(0xffffffffu, vote);
}
XIOKV_DEVICE uint32_t xiokv_first_lane(uint32_t value) {
  return __shfl_sync(0xffffffffu, value, 0);
}
XIOKV_DEVICE uint32_t xiokv_uniform(uint32_t value) { return value; }
template <class Arguments>
XIOKV_DEVICE const Arguments *xiokv_anew(const Arguments *arguments) {
  return arguments;
}
XIOKV_DEVICE void xiokv_barrier() { __syncthreads(); }
XIOKV_DEVICE void xiokv_wave_barrier() { __syncwarp(); }

XIOKV_DEVICE void xiokv_release_system() {
  asm volatile("fence.acq_rel.sys;" ::: "memory");
}
XIOKV_DEVICE void xiokv_acquire_system() {
  asm volatile("fence.acq_rel.sys;" ::: "memory");
}

/// @brief Volatile, which is relaxed at system scope: an acquiring load ptxas
/// narrows to the bytes that are used of it.
XIOKV_DEVICE xiokv_words xiokv_load16(const void *address) {
  xiokv_words w;
  asm volatile("ld.volatile.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(w.word[0]), "=r"(w.word[1]), "=r"(w.word[2]),
                 "=r"(w.word[3])
               : "l"(address)
               : "memory");
  return w;
}

XIOKV_DEVICE xiokv_words xiokv_load16_if(bool condition, const void *address) {
  xiokv_words w;
  asm volatile("{\n\t"
               ".reg .pred p;\n\t"
               "setp.ne.u32 p, %5, 0;\n\t"
               "mov.u32 %0, 0;\n\t"
               "mov.u32 %1, 0;\n\t"
               "mov.u32 %2, 0;\n\t"
               "mov.u32 %3, 0;\n\t"
               "@p ld.volatile.v4.u32 {%0,%1,%2,%3}, [%4];\n\t"
               "}"
               : "=&r"(w.word[0]), "=&r"(w.word[1]), "=&r"(w.word[2]),
                 "=&r"(w.word[3])
               : "l"(address), "r"(condition ? 1u : 0u)
               : "memory");
  return w;
}

XIOKV_DEVICE xiokv_words xiokv_read16_if(bool condition, const void *address) {
  xiokv_words w;
  asm("{\n\t"
      ".reg .pred p;\n\t"
      "setp.ne.u32 p, %5, 0;\n\t"
      "mov.u32 %0, 0;\n\t"
      "mov.u32 %1, 0;\n\t"
      "mov.u32 %2, 0;\n\t"
      "mov.u32 %3, 0;\n\t"
      "@p ld.global.v4.u32 {%0,%1,%2,%3}, [%4];\n\t"
      "}"
      : "=&r"(w.word[0]), "=&r"(w.word[1]), "=&r"(w.word[2]), "=&r"(w.word[3])
      : "l"(__cvta_generic_to_global(address)), "r"(condition ? 1u : 0u));
  return w;
}

XIOKV_DEVICE uint32_t xiokv_peek32_if(bool condition, const void *address,
                                      uint32_t dword) {
  uint32_t word;
  asm volatile("{\n\t"
               ".reg .pred p;\n\t"
               "setp.ne.u32 p, %2, 0;\n\t"
               "mov.u32 %0, 0;\n\t"
               "@p ld.volatile.u32 %0, [%1];\n\t"
               "}"
               : "=&r"(word)
               : "l"(static_cast<const uint32_t *>(address) + dword),
                 "r"(condition ? 1u : 0u)
               : "memory");
  return word;
}

XIOKV_DEVICE uint32_t xiokv_acquire32_if(bool condition, const void *address,
                                         uint32_t dword) {
  uint32_t word;
  asm volatile("{\n\t"
               ".reg .pred p;\n\t"
               "setp.ne.u32 p, %2, 0;\n\t"
               "mov.u32 %0, 0;\n\t"
               "@p ld.acquire.sys.u32 %0, [%1];\n\t"
               "}"
               : "=&r"(word)
               : "l"(static_cast<const uint32_t *>(address) + dword),
                 "r"(condition ? 1u : 0u)
               : "memory");
  return word;
}

/// @brief No command uses word 1 of an entry, and only Retrieve word 0.
XIOKV_DEVICE xiokv_words xiokv_hold(const xiokv_words &words, uint32_t zero) {
  xiokv_words held = words;
  held.word[3] |= (words.word[0] | words.word[1]) & zero;
  return held;
}

XIOKV_DEVICE void xiokv_store16(void *address, xiokv_words words) {
  *static_cast<uint4 *>(address) =
      make_uint4(words.word[0], words.word[1], words.word[2], words.word[3]);
}

XIOKV_DEVICE void xiokv_store64(void *address, uint64_t value) {
  *static_cast<uint64_t *>(address) = value;
}

XIOKV_DEVICE void xiokv_store32(void *address, uint32_t value) {
  asm volatile("st.relaxed.sys.u32 [%0], %1;" ::"l"(address), "r"(value)
               : "memory");
}

XIOKV_DEVICE uint32_t xiokv_shared_add(uint32_t *address, uint32_t value) {
  return atomicAdd_block(address, value);
}

XIOKV_DEVICE bool xiokv_shared_swap_if(uint32_t *address, uint32_t expected,
                                       uint32_t value) {
  return atomicCAS_block(address, expected, value) == expected;
}

XIOKV_DEVICE uint32_t xiokv_device_add32(uint32_t *address, uint32_t value) {
  return atomicAdd(address, value);
}

XIOKV_DEVICE uint64_t xiokv_device_add64(uint64_t *address, uint64_t value) {
  return atomicAdd(reinterpret_cast<unsigned long long *>(address),
                   static_cast<unsigned long long>(value));
}

/// @brief Nanoseconds of the global timer.
XIOKV_DEVICE uint64_t xiokv_clock() {
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

XIOKV_DEVICE void xiokv_pause(uint32_t = 1, uint32_t = 0, uint32_t = 1) {}

/// @brief The entry of a command: a block runs its queue of the batch.
#define XIOKV_DEFINE_KERNEL(command)                                           \
  XIOKV_KERNEL xiokv_batch_##command(const xiokv_batch batch) {                \
    xiokv_run_batch<xiokv_op_##command>(batch, blockIdx.x);                    \
  }
