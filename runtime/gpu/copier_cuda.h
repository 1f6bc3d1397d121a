// SPDX-License-Identifier: MIT
/// @file
/// @brief The copier on CUDA's driver library, whose functions come as
/// addresses: nothing here needs its headers or links to it.
#pragma once

#include "copier.h"

#ifdef __cplusplus
extern "C" {
#endif

/// @brief Functions of the driver library, and what they are called with.
struct xiokv_copier_cuda {
  void *cuCtxGetCurrent;
  void *cuCtxSetCurrent;
  void *cuLaunchKernel;
  void *cuPointerGetAttributes;
  void *context;  ///< CUcontext
  void *function; ///< CUfunction
  void *stream;   ///< CUstream, of nobody else
  uint32_t lanes; ///< Of a workgroup.
  uint32_t reserved;
};

/// @brief Fill in a vendor that works through `cuda`, which stays in use.
void xiokv_copier_cuda_vendor(struct xiokv_copier_cuda *cuda,
                              struct xiokv_copier_vendor *vendor);

#ifdef __cplusplus
}
#endif
