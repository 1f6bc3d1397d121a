// SPDX-License-Identifier: MIT
#include "runtime.h"

#include "config.h"

namespace standin {
namespace {

thread_local int device_of_thread = 0;

} // namespace

Runtime &runtime() {
  static Runtime &only = *new Runtime;
  return only;
}

int current_device() { return device_of_thread; }

void use_device(int device) {
  require(device >= 0 && device < config().devices, hipErrorInvalidDevice);
  device_of_thread = device;
}

std::shared_ptr<Stream> Runtime::stream(hipStream_t handle) {
  if (handle)
    return streams.get(handle);
  const std::lock_guard<std::mutex> guard(mutex_);
  return null_stream(current_device());
}

MomentPointer Runtime::submit(hipStream_t handle, Stream::Work work) {
  const std::shared_ptr<Stream> target = stream(handle);
  const std::lock_guard<std::mutex> guard(mutex_);
  return target->submit(std::move(work), ordered_before(*target));
}

hipError_t Runtime::synchronize(int device) {
  hipError_t error = hipSuccess;
  for (const auto &stream : streams_of(device)) {
    const hipError_t ended = stream->last()->wait();
    if (error == hipSuccess)
      error = ended;
  }
  return error;
}

std::shared_ptr<Stream> Runtime::null_stream(int device) {
  std::shared_ptr<Stream> &made = null_streams_[device];
  if (!made)
    made = std::make_shared<Stream>(device, true);
  return made;
}

std::vector<std::shared_ptr<Stream>> Runtime::streams_of(int device) {
  std::vector<std::shared_ptr<Stream>> found;
  for (auto &stream : streams.all()) {
    if (stream->device == device)
      found.push_back(std::move(stream));
  }
  const std::lock_guard<std::mutex> guard(mutex_);
  const auto null = null_streams_.find(device);
  if (null != null_streams_.end())
    found.push_back(null->second);
  return found;
}

/// Work in the null stream comes after all before it in blocking streams, and
/// theirs after all before it in the null stream.
std::vector<MomentPointer> Runtime::ordered_before(const Stream &stream) {
  std::vector<MomentPointer> before;
  const auto null = null_streams_.find(stream.device);
  if (null == null_streams_.end() || !stream.blocking)
    return before;
  if (null->second.get() != &stream)
    return {null->second->last()};
  for (const auto &other : streams.all()) {
    if (other->device == stream.device && other->blocking)
      before.push_back(other->last());
  }
  return before;
}

} // namespace standin
