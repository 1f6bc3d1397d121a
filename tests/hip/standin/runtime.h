// SPDX-License-Identifier: MIT
/// @file
/// @brief All that the stand-in holds for its process.
#pragma once

#include "memory.h"
#include "module.h"
#include "stream.h"
#include "table.h"

namespace standin {

struct Runtime {
  Memory memory;
  Table<hipModule_t, Module> modules;
  Table<hipFunction_t, Function> functions;
  Table<hipEvent_t, Event> events;
  Table<hipStream_t, Stream> streams;

  /// @brief Return a stream by its handle, null for a device's null stream.
  std::shared_ptr<Stream> stream(hipStream_t handle);

  /// @brief Add work to a stream, in its order with the null stream.
  MomentPointer submit(hipStream_t handle, Stream::Work work);

  /// @brief Wait for all work of a device so far; return its error.
  hipError_t synchronize(int device);

private:
  std::shared_ptr<Stream> null_stream(int device);
  std::vector<std::shared_ptr<Stream>> streams_of(int device);
  std::vector<MomentPointer> ordered_before(const Stream &stream);

  std::mutex mutex_; ///< of the members below, and of the order of submissions
  std::map<int, std::shared_ptr<Stream>> null_streams_;
};

/// @brief Return the process's state. It is never destroyed: kernels may be
/// running when the process ends.
Runtime &runtime();

/// @brief Return the calling thread's device.
int current_device();

/// @brief Choose the calling thread's device.
void use_device(int device);

} // namespace standin
