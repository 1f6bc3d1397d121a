// SPDX-License-Identifier: MIT
/// @file
/// @brief Calls about devices.
#include <algorithm>
#include <cstring>

#include "config.h"
#include "runtime.h"

namespace standin {
namespace {

constexpr int clock_khz = 2'000'000;
constexpr int wall_clock_khz = 100'000; // the machine's real-time clock
constexpr int shared_bytes_most = 65'536;
constexpr int groups_most = 2'147'483'647;

int wave() {
  return processor(config().architecture).substr(0, 4) == "gfx9" ? 64 : 32;
}

void require_number(int device) {
  require(device >= 0 && device < config().devices, hipErrorInvalidDevice);
}

template <size_t N> void set_text(char (&to)[N], const std::string &from) {
  to[from.copy(to, N - 1)] = '\0';
}

void describe(hipDeviceProp_tR0600 &device) {
  std::memset(&device, 0, sizeof device);
  set_text(device.name, "stand-in " + processor(config().architecture));
  set_text(device.gcnArchName, config().architecture);
  device.totalGlobalMem = config().device_bytes;
  device.sharedMemPerBlock = shared_bytes_most;
  device.warpSize = wave();
  device.maxThreadsPerBlock = lanes_most;
  std::fill_n(device.maxThreadsDim, 3, lanes_most);
  std::fill_n(device.maxGridSize, 3, groups_most);
  device.clockRate = clock_khz;
  device.multiProcessorCount = 1;
  device.canMapHostMemory = 1;
  device.concurrentKernels = 1;
  device.unifiedAddressing = 1;
  device.hostRegisterSupported = 1;
  device.clockInstructionRate = wall_clock_khz;
  device.isLargeBar = config().large_bar;
}

int attribute(hipDeviceAttribute_t which) {
  switch (which) {
  case hipDeviceAttributeCanMapHostMemory:
  case hipDeviceAttributeMultiprocessorCount:
  case hipDeviceAttributeUnifiedAddressing:
  case hipDeviceAttributeHostRegisterSupported:
  case hipDeviceAttributeFineGrainSupport:
    return 1;
  case hipDeviceAttributeIntegrated:
  case hipDeviceAttributeManagedMemory:
  case hipDeviceAttributePageableMemoryAccess:
    return 0;
  case hipDeviceAttributeIsLargeBar:
    return config().large_bar;
  case hipDeviceAttributeClockRate:
    return clock_khz;
  case hipDeviceAttributeWallClockRate:
    return wall_clock_khz;
  case hipDeviceAttributeMaxBlockDimX:
  case hipDeviceAttributeMaxThreadsPerBlock:
    return lanes_most;
  case hipDeviceAttributeMaxGridDimX:
    return groups_most;
  case hipDeviceAttributeMaxSharedMemoryPerBlock:
    return shared_bytes_most;
  case hipDeviceAttributeWarpSize:
    return wave();
  }
  throw Fault{hipErrorInvalidValue};
}

} // namespace
} // namespace standin

using namespace standin;

STANDIN_API hipInit(unsigned flags) {
  return call(
      "hipInit", [=] { require(flags == 0, hipErrorInvalidValue); }, flags);
}

STANDIN_API hipGetDeviceCount(int *count) {
  *count = config().devices;
  return call("hipGetDeviceCount", [] {});
}

STANDIN_API hipSetDevice(int device) {
  return call("hipSetDevice", [=] { use_device(device); }, device);
}

STANDIN_API hipGetDevice(int *device) {
  return call("hipGetDevice", [=] { *device = current_device(); });
}

STANDIN_API hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *properties,
                                        int device) {
  return call(
      "hipGetDeviceProperties",
      [=] {
        require_number(device);
        describe(*properties);
      },
      device);
}

STANDIN_API hipDeviceGetAttribute(int *value, hipDeviceAttribute_t which,
                                  int device) {
  return call(
      "hipDeviceGetAttribute",
      [=] {
        require_number(device);
        *value = attribute(which);
      },
      which, device);
}

STANDIN_API hipDeviceSynchronize() {
  return call("hipDeviceSynchronize", [] {
    const hipError_t error = runtime().synchronize(current_device());
    require(error == hipSuccess, error);
  });
}
