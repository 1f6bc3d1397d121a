// SPDX-License-Identifier: MIT
/// @file
/// @brief The part of HIP's binary interface that the stand-in has: names,
/// values and layouts of HIP 6 and later.
#pragma once

#include <cstddef>
#include <cstdint>

/// @brief Errors: name, value, and what hipGetErrorString says here.
#define STANDIN_ERRORS(X)                                                      \
  X(hipSuccess, 0, "no error")                                                 \
  X(hipErrorInvalidValue, 1, "an argument is not valid")                       \
  X(hipErrorOutOfMemory, 2, "not enough memory")                               \
  X(hipErrorNotInitialized, 3, "not initialized")                              \
  X(hipErrorInvalidConfiguration, 9, "the launch has a shape out of bounds")   \
  X(hipErrorInvalidDevicePointer, 17, "no device memory begins here")          \
  X(hipErrorNoDevice, 100, "there is no device")                               \
  X(hipErrorInvalidDevice, 101, "there is no device of this number")           \
  X(hipErrorInvalidImage, 200, "not a code object")                            \
  X(hipErrorNoBinaryForGpu, 209, "the code object is for another device")      \
  X(hipErrorInvalidHandle, 400, "the handle is none, or of another device")    \
  X(hipErrorNotFound, 500, "there is no symbol of this name")                  \
  X(hipErrorNotReady, 600, "not done yet")                                     \
  X(hipErrorHostMemoryAlreadyRegistered, 712, "registered already")            \
  X(hipErrorHostMemoryNotRegistered, 713, "not registered")                    \
  X(hipErrorLaunchFailure, 719, "a kernel failed")                             \
  X(hipErrorNotSupported, 801, "the stand-in does not have this")

enum hipError_t : int {
#define STANDIN_VALUE(name, value, text) name = value,
  STANDIN_ERRORS(STANDIN_VALUE)
#undef STANDIN_VALUE
};

enum hipMemoryType : int {
  hipMemoryTypeUnregistered = 0,
  hipMemoryTypeHost = 1,
  hipMemoryTypeDevice = 2,
};

enum hipMemcpyKind : int {
  hipMemcpyHostToHost = 0,
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2,
  hipMemcpyDeviceToDevice = 3,
  hipMemcpyDefault = 4,
};

enum hipDeviceAttribute_t : int {
  hipDeviceAttributeCanMapHostMemory = 3,
  hipDeviceAttributeClockRate = 5,
  hipDeviceAttributeIntegrated = 16,
  hipDeviceAttributeManagedMemory = 24,
  hipDeviceAttributeMaxBlockDimX = 26,
  hipDeviceAttributeMaxGridDimX = 29,
  hipDeviceAttributeMaxThreadsPerBlock = 56,
  hipDeviceAttributeMultiprocessorCount = 63,
  hipDeviceAttributePageableMemoryAccess = 65,
  hipDeviceAttributeMaxSharedMemoryPerBlock = 74,
  hipDeviceAttributeUnifiedAddressing = 85,
  hipDeviceAttributeWarpSize = 87,
  hipDeviceAttributeHostRegisterSupported = 90,
  hipDeviceAttributeIsLargeBar = 10011,
  hipDeviceAttributeFineGrainSupport = 10016,
  hipDeviceAttributeWallClockRate = 10017,
};

enum : unsigned {
  hipStreamNonBlocking = 1,
  hipEventDisableTiming = 2,
};

/// @brief What `device` is where a pointer belongs to none.
constexpr int hipInvalidDeviceId = -2;

/// @brief Marks in the `extra` argument of a launch, each but the last followed
/// by a pointer.
enum : uintptr_t {
  HIP_LAUNCH_PARAM_BUFFER_POINTER = 1,
  HIP_LAUNCH_PARAM_BUFFER_SIZE = 2,
  HIP_LAUNCH_PARAM_END = 3,
};

/// @brief What hipPointerGetAttributes fills in.
struct hipPointerAttribute_t {
  hipMemoryType type;
  int device;
  void *devicePointer;
  void *hostPointer;
  int isManaged;
  unsigned allocationFlags;
};

/// @brief What hipGetDevicePropertiesR0600 fills in. Members that the stand-in
/// leaves zero are gathered into arrays.
struct hipDeviceProp_tR0600 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;
  size_t totalConstMem;
  int major;
  int minor;
  size_t textureAlignment[2];
  int deviceOverlap;
  int multiProcessorCount;
  int kernelExecTimeoutEnabled;
  int integrated;
  int canMapHostMemory;
  int computeMode;
  int texturesAndSurfaces[40];
  size_t surfaceAlignment;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryAndCaches[8];
  size_t sharedMemPerMultiprocessor;
  int multiprocessorAndManaged[12];
  size_t sharedMemPerBlockOptin;
  int pageableAndBlocks[4];
  size_t reservedSharedMemPerBlock;
  int hostRegisterSupported;
  int pools[12];
  int reserved[63];
  int hipReserved[32];
  char gcnArchName[256];
  size_t maxSharedMemoryPerMultiProcessor;
  int clockInstructionRate;
  unsigned arch;
  unsigned *hdpFlushControls[2];
  int cooperativeUnmatched[4];
  int isLargeBar;
  int asicRevision;
};

/// @brief Handles: to callers they are pointers to what they never look into.
using hipStream_t = struct ihipStream_t *;
using hipEvent_t = struct ihipEvent_t *;
using hipModule_t = struct ihipModule_t *;
using hipFunction_t = struct ihipModuleSymbol_t *;

/// @brief Marks the functions that the library exports.
#define STANDIN_API extern "C" __attribute__((visibility("default"))) hipError_t
