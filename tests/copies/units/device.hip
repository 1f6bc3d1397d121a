// SPDX-License-Identifier: MIT
/// @file
/// @brief Two copies in device code of one unit: encoders, and the engine of
/// one beside the headers of the other.
#include "xiokv/kv_commands.h"

#define XIOKV_NO_ENTRIES
#include "kernels/kv_kernels.cpp"

#ifdef __HIP__
#define KERNEL extern "C" __attribute__((global))
#else
#define KERNEL extern "C" __global__
#endif

KERNEL void encode(xiokv_sqe *plain, acme::kv::xiokv_sqe *named,
                   const xiokv_key *key, const acme::kv::xiokv_key *other) {
  const xiokv_reserved reserved = {0u, 0u, 0u};
  const acme::kv::xiokv_reserved places = {0u, 9u, 0u};
  *plain = xiokv_encode_retrieve_raw(1u, key, 4096u, 0u, &reserved);
  *named = acme::kv::xiokv_encode_retrieve_raw(1u, other, 4096u, 0u, &places);
}

KERNEL void ask(const acme::kv::xiokv_batch *batch) {
  acme::kv::xiokv_run_batch<acme::kv::xiokv_op_exist>(*batch, 0);
}
