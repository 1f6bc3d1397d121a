// Copied by `xiokv-gen build` from the static templates of xiokv; do not edit.
// clang-format off
// SPDX-License-Identifier: MIT
/// @file
/// @brief What a completion means for the caller of a KV command.
#pragma once

#include <stdint.h>

#include "xiokv/kv_abi.h"
#include "xiokv/kv_types.h"
#include "xiokv/nvme_kv.h"

/// @brief Classify a status code.
///
/// Devices report the KV codes with status code type 0 or 1: both count alike.
/// @param sct Status code type.
/// @param sc Status code.
/// @return XIOKV_OUTCOME_OK, _MISSING, _EXISTS or _ERROR.
XIOKV_HD static inline enum xiokv_outcome xiokv_classify_status(uint32_t sct,
                                                                uint32_t sc) {
  if (sct == XIOKV_SCT_GENERIC && sc == XIOKV_SC_SUCCESS)
    return XIOKV_OUTCOME_OK;
  if (sct > XIOKV_SCT_COMMAND_SPECIFIC)
    return XIOKV_OUTCOME_ERROR;
  if (sc == XIOKV_SC_KEY_DOES_NOT_EXIST)
    return XIOKV_OUTCOME_MISSING;
  return sc == XIOKV_SC_KEY_EXISTS ? XIOKV_OUTCOME_EXISTS : XIOKV_OUTCOME_ERROR;
}

/// @brief Classify a completion; DNR, CRD and More do not matter.
/// @param completion The completion.
/// @param opcode Opcode of the command that it completes.
/// @param buffer_size Bytes of the buffer that a Retrieve was given.
/// @return The outcome; only a Retrieve is ever XIOKV_OUTCOME_TRUNCATED.
XIOKV_HD static inline enum xiokv_outcome
xiokv_classify(const struct xiokv_completion *completion, uint32_t opcode,
               uint32_t buffer_size) {
  const enum xiokv_outcome outcome =
      xiokv_classify_status(completion->sct, completion->sc);

  if (outcome == XIOKV_OUTCOME_OK && opcode == XIOKV_OPC_RETRIEVE &&
      completion->dw0 > buffer_size)
    return XIOKV_OUTCOME_TRUNCATED;
  return outcome;
}
