// Copied by `xiokv-gen build` from the static templates of xiokv; do not edit.
// clang-format off
// SPDX-License-Identifier: MIT
/// @file
/// @brief What joins the engine, the encoders and the module's identity.
///
/// Where XIOKV_NO_ENTRIES is defined there is no module: what the runtime looks
/// up by name, its identity and its kernels, is left out.
#pragma once

#include "xiokv/kv_abi_hash.h"
#include "xiokv/kv_batch_request.h"
#include "xiokv/kv_commands.h"

#ifdef XIOKV_NO_ENTRIES
#undef XIOKV_DEFINE_KERNEL
#define XIOKV_DEFINE_KERNEL(command)
#define XIOKV_DEFINE_SPEC(digits)
#else
/// @brief ABI version and layout hash; the runtime reads them before a launch.
extern "C" {
XIOKV_CONSTANT uint64_t xiokv_module_abi[2] = {XIOKV_ABI_VERSION,
                                               xiokv_abi_hash()};
}

/// @brief Define the module's spec identity, 64 hexadecimal digits; the runtime
/// compares it with the description beside the module.
#define XIOKV_DEFINE_SPEC(digits)                                              \
  extern "C" {                                                                 \
  XIOKV_CONSTANT char xiokv_module_spec[65] = digits;                          \
  }
#endif

/// @brief Fill in what an encoder leaves to submission.
XIOKV_DEVICE void xiokv_finish(xiokv_sqe &sqe, const xiokv_request &request) {
  xiokv_sqe_set_cid(&sqe, static_cast<uint16_t>(request.cid));
  xiokv_sqe_set_prp(&sqe, request.prp.prp1, request.prp.prp2);
}

/// @brief Read the completion of a command.
/// @param status CQE status, bits 15:1.
/// @param dw0 Completion DW0; a Retrieve's value size.
/// @param size Bytes of the buffer that the command was given.
XIOKV_DEVICE xiokv_completed xiokv_read(uint32_t opcode, uint32_t status,
                                        uint32_t dw0, uint32_t size) {
  xiokv_completed done = {0,
                          xiokv_classify_status(xiokv_bits_get(status, 10, 8),
                                                xiokv_bits_get(status, 7, 0))};
  if (opcode != XIOKV_OPC_RETRIEVE || done.outcome != XIOKV_OUTCOME_OK)
    return done;
  done.value_size = dw0;
  if (dw0 > size)
    done.outcome = XIOKV_OUTCOME_TRUNCATED;
  return done;
}
