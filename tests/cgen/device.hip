// SPDX-License-Identifier: MIT
/// @file
/// @brief Uses every kind of function of kv_commands.h in a kernel.
#include "xiokv/kv_commands.h"

#ifdef __HIP__
#define KERNEL extern "C" __attribute__((global))
#else
#define KERNEL extern "C" __global__
#endif

KERNEL void encode_raw(xiokv_sqe *slot, const xiokv_key *key, uint64_t prp) {
  const xiokv_reserved reserved = {0u, 0u, 0u};
  xiokv_sqe sqe = xiokv_encode_retrieve_raw(1u, key, 4096u, 0u, &reserved);

  xiokv_sqe_set_cid(&sqe, 7u);
  xiokv_sqe_set_prp(&sqe, prp, 0u);
  *slot = sqe;
}

KERNEL void encode(xiokv_sqe *slots, const xiokv_key *keys, int *errors,
                   const xiokv_limits *limits) {
  errors[0] = xiokv_encode_store(&slots[0], limits, 1u, keys, 16u, 4096u, 0u);
  errors[1] = xiokv_encode_exist_packed(&slots[1], limits, 1u, keys);
}

KERNEL void decode(const xiokv_cqe *cqe, int *outcome, const void *page,
                   xiokv_key *key) {
  xiokv_completion completion;
  xiokv_list_page list;

  xiokv_decode_completion(cqe, &completion);
  outcome[0] = xiokv_classify(&completion, XIOKV_OPC_RETRIEVE, 4096u);
  if (!xiokv_list_begin(&list, page, 4096u))
    outcome[1] = xiokv_list_next(&list, key);
}
