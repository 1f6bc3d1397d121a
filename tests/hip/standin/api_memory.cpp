// SPDX-License-Identifier: MIT
/// @file
/// @brief Calls about memory.
#include <cstring>

#include "config.h"
#include "runtime.h"

using namespace standin;

namespace {

void allocate(void **address, Kind kind, size_t bytes, unsigned flags) {
  require(address != nullptr, hipErrorInvalidValue);
  *address = bytes == 0 ? nullptr
                        : runtime().memory.allocate(kind, current_device(),
                                                    bytes, flags);
}

/// Free a block, as HIP does once nothing runs on the device any more.
void release(void *address, Kind kind, hipError_t error) {
  if (!address)
    return;
  runtime().synchronize(current_device());
  runtime().memory.free(kind, address, error);
}

/// Add work on memory to a stream; wait for it where the memory is not the
/// device's to read or write at a time of its choice.
void submit_access(hipStream_t stream, Stream::Work work, bool wait) {
  const MomentPointer end = runtime().submit(stream, std::move(work));
  const hipError_t error = wait ? end->wait() : hipSuccess;
  require(error == hipSuccess, error);
}

bool is_known(const void *address) {
  return runtime().memory.find(address).has_value();
}

void copy(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
          hipStream_t stream, bool wait) {
  require(kind >= hipMemcpyHostToHost && kind <= hipMemcpyDefault,
          hipErrorInvalidValue);
  runtime().memory.check(to, bytes);
  runtime().memory.check(from, bytes);
  const auto work = [=] {
    std::memcpy(to, from, bytes);
    return hipSuccess;
  };
  submit_access(stream, work, wait || !is_known(to) || !is_known(from));
}

void fill(void *to, int byte, size_t bytes, hipStream_t stream) {
  require(is_known(to), hipErrorInvalidValue);
  runtime().memory.check(to, bytes);
  const auto work = [=] {
    std::memset(to, byte, bytes);
    return hipSuccess;
  };
  submit_access(stream, work, false);
}

/// Return an address of one byte of a block, given another one of the same.
void *moved(const void *pointer, const Block &block, uint64_t start) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  return start == 0 ? nullptr
                    : reinterpret_cast<void *>(address - block.address + start);
}

hipPointerAttribute_t describe(const void *pointer) {
  const std::optional<Block> block = runtime().memory.find(pointer);
  require(block || !config().known_only, hipErrorInvalidValue);
  if (!block)
    return {
        hipMemoryTypeUnregistered, hipInvalidDeviceId, nullptr, nullptr, 0, 0};
  return {block->kind == Kind::device ? hipMemoryTypeDevice : hipMemoryTypeHost,
          block->device,
          moved(pointer, *block, block->on_device),
          moved(pointer, *block, block->on_host),
          0,
          block->flags};
}

} // namespace

STANDIN_API hipMalloc(void **address, size_t bytes) {
  return call(
      "hipMalloc", [=] { allocate(address, Kind::device, bytes, 0); }, bytes);
}

STANDIN_API hipExtMallocWithFlags(void **address, size_t bytes,
                                  unsigned flags) {
  return call(
      "hipExtMallocWithFlags",
      [=] { allocate(address, Kind::device, bytes, flags); }, bytes, flags);
}

STANDIN_API hipFree(void *address) {
  return call(
      "hipFree",
      [=] { release(address, Kind::device, hipErrorInvalidDevicePointer); },
      address);
}

STANDIN_API hipHostMalloc(void **address, size_t bytes, unsigned flags) {
  return call(
      "hipHostMalloc", [=] { allocate(address, Kind::pinned, bytes, flags); },
      bytes, flags);
}

STANDIN_API hipHostFree(void *address) {
  return call(
      "hipHostFree",
      [=] { release(address, Kind::pinned, hipErrorInvalidValue); }, address);
}

STANDIN_API hipHostRegister(void *address, size_t bytes, unsigned flags) {
  return call(
      "hipHostRegister",
      [=] {
        require(address && bytes > 0, hipErrorInvalidValue);
        runtime().memory.add(current_device(), address, bytes, flags);
      },
      address, bytes, flags);
}

STANDIN_API hipHostUnregister(void *address) {
  return call(
      "hipHostUnregister", [=] { runtime().memory.remove(address); }, address);
}

STANDIN_API hipHostGetDevicePointer(void **device, void *host, unsigned flags) {
  return call(
      "hipHostGetDevicePointer",
      [=] {
        const std::optional<Block> block = runtime().memory.find(host);
        require(flags == 0 && block && block->kind != Kind::device,
                hipErrorInvalidValue);
        *device = moved(host, *block, block->on_device);
      },
      host, flags);
}

STANDIN_API hipPointerGetAttributes(hipPointerAttribute_t *attributes,
                                    const void *pointer) {
  return call(
      "hipPointerGetAttributes", [=] { *attributes = describe(pointer); },
      pointer);
}

STANDIN_API hipMemcpy(void *to, const void *from, size_t bytes,
                      hipMemcpyKind kind) {
  return call(
      "hipMemcpy", [=] { copy(to, from, bytes, kind, nullptr, true); }, to,
      from, bytes, kind);
}

STANDIN_API hipMemcpyAsync(void *to, const void *from, size_t bytes,
                           hipMemcpyKind kind, hipStream_t stream) {
  return call(
      "hipMemcpyAsync", [=] { copy(to, from, bytes, kind, stream, false); }, to,
      from, bytes, kind, stream);
}

STANDIN_API hipMemcpyHtoDAsync(void *to, void *from, size_t bytes,
                               hipStream_t stream) {
  return call(
      "hipMemcpyHtoDAsync",
      [=] { copy(to, from, bytes, hipMemcpyHostToDevice, stream, false); }, to,
      from, bytes, stream);
}

STANDIN_API hipMemsetAsync(void *to, int byte, size_t bytes,
                           hipStream_t stream) {
  return call(
      "hipMemsetAsync", [=] { fill(to, byte, bytes, stream); }, to, byte, bytes,
      stream);
}
