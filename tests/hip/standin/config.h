// SPDX-License-Identifier: MIT
/// @file
/// @brief What the stand-in pretends to be, as the environment has it.
#pragma once

#include <cstdint>
#include <string>

namespace standin {

/// @brief One member an environment variable, read once.
struct Config {
  std::string architecture; ///< STANDIN_HIP_ARCH: "gfx942:sramecc+:xnack-"
  int devices;              ///< STANDIN_HIP_DEVICES: 1
  bool large_bar;           ///< STANDIN_HIP_LARGE_BAR: 0 where the CPU does not
                            ///< reach the device's memory; 1
  uint64_t device_bytes;    ///< STANDIN_HIP_MEMORY, of one device: 16 GiB
  uint64_t pinned_bytes;    ///< STANDIN_HIP_PINNED, page-locked: 16 GiB
  bool two_addresses;       ///< STANDIN_HIP_TWO_ADDRESSES: 1 where page-locked
                            ///< memory has another address on the device
  bool weak;                ///< STANDIN_HIP_WEAK: 1 for weak memory in kernels
  uint64_t seed;            ///< STANDIN_HIP_SEED, of a kernel's schedule: 1
  uint64_t instructions;    ///< STANDIN_HIP_INSTRUCTIONS, most of a wave: none
  bool known_only;          ///< STANDIN_HIP_KNOWN_ONLY: 1 for an error where
                            ///< hipPointerGetAttributes does not know a pointer
  std::string log; ///< STANDIN_HIP_LOG: file that every call is added to
};

/// @brief Most lanes of a workgroup.
constexpr int lanes_most = 1024;

/// @brief Return the configuration of this process.
const Config &config();

/// @brief Return the architecture without its features: "gfx942".
std::string processor(const std::string &architecture);

/// @brief Tell whether a code object runs on a device. One that leaves a
/// feature open runs with any setting.
bool runs_on(const std::string &object, const std::string &device);

} // namespace standin
