// SPDX-License-Identifier: MIT
// Small kernels for the tests of the stand-in.

#define KERNEL extern "C" __attribute__((global)) void

typedef unsigned int u32;
typedef unsigned long long u64;

extern "C" __attribute__((device, used, visibility("protected")))
u64 numbers[2] = {17, 1ull << 40};

static __attribute__((device)) u32 lane() {
  return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
         __builtin_amdgcn_workitem_id_x();
}

struct Sum {
  const u32 *left;
  const u32 *right;
  u32 *out;
  u32 count;
};

KERNEL add(Sum sum) {
  const u32 i = lane();
  if (i < sum.count)
    sum.out[i] = sum.left[i] + sum.right[i];
}

KERNEL add_each(const u32 *left, const u32 *right, u32 *out, u32 count) {
  const u32 i = lane();
  if (i < count)
    out[i] = left[i] + right[i];
}

// Waits until somebody opens the gate, then says so.
KERNEL gate(u32 *open, u32 *passed) {
  while (__hip_atomic_load(open, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0)
    __builtin_amdgcn_s_sleep(1);
  __hip_atomic_store(passed, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

KERNEL write(u32 *to, u32 value) { *to = value; }
