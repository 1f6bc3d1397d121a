// SPDX-License-Identifier: MIT
/// @file
/// @brief Code objects, their kernels, and launches of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../../amdgpu/machine/machine.h"
#include "hip_abi.h"

namespace standin {

/// @brief A code object that a device can run.
struct Module {
  /// @brief Load an image for a device; fail as HIP does where it is none, or
  /// another device's.
  Module(const void *image, int device);
  ~Module();

  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  const int device;
  amdgpu_image *const image;
};

/// @brief A kernel of a module.
struct Function {
  std::shared_ptr<Module> module;
  std::string name;
};

/// @brief One launch, with all that it needs when its turn comes.
struct Launch {
  std::shared_ptr<Module> module;
  std::string kernel;
  uint32_t groups[3];
  uint32_t lanes[3];
  uint32_t shared_bytes;
  std::vector<uint8_t> arguments;
};

/// @brief Return a kernel's arguments as one block of bytes.
/// @param pointers One pointer an argument, or null.
/// @param extra The same as one buffer, in HIP's notation, or null.
std::vector<uint8_t> pack(const Function &function, void *const *pointers,
                          void *const *extra);

/// @brief Run a kernel to its end on the calling thread; return hipSuccess, or
/// hipErrorLaunchFailure after saying why on stderr.
hipError_t execute(const Launch &launch);

} // namespace standin
