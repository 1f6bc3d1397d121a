// SPDX-License-Identifier: MIT
/// @file
/// @brief Uses the functions of kv_exec.h in a kernel.
#include "xiokv/kv_exec.h"

#ifdef __HIP__
#define KERNEL extern "C" __attribute__((global))
#else
#define KERNEL extern "C" __global__
#endif

KERNEL void encode(xiokv_sqe *slots, const xiokv_limits *limits, int *errors) {
  slots[0] = xiokv_encode_exec_raw(1u, 8u, 16u, 4096u, 3u);
  errors[0] = xiokv_encode_exec(&slots[1], limits, 1u, 8u, 16u, 4096u, 3u);
}

KERNEL void pack(uint8_t *buffer, const uint8_t *key, const uint8_t *input,
                 int *errors) {
  errors[0] = xiokv_exec_pack(buffer, 4096u, key, 8u, input, 16u);
}
