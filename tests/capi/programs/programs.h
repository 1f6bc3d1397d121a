/* SPDX-License-Identifier: MIT */
/** @file
 * @brief The parts of the program in C. */
#pragma once

#include "check.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Every call on keys, on a namespace that is empty. */
void run_calls(struct xiokv_ctx *ctx);

/** Arguments that are refused, each with a code and a reason. */
void run_refused(void);

/** Faults of a controller: late, lost, dead, and what comes after them. */
void run_faults(void);

/** Handles that were closed, streams, kernels of the caller's own, fork. */
void run_handles(void);

#ifdef __cplusplus
}
#endif
