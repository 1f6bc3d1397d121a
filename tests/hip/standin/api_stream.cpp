// SPDX-License-Identifier: MIT
/// @file
/// @brief Calls about streams and events.
#include "runtime.h"

using namespace standin;

namespace {

constexpr unsigned release_flags = 0xC0000000; // how far an event's fence goes

hipError_t nothing() { return hipSuccess; }

void succeed(hipError_t error) { require(error == hipSuccess, error); }

void create_event(hipEvent_t *event, unsigned flags) {
  require((flags & ~release_flags) <= 7, hipErrorInvalidValue);
  const bool timing = (flags & hipEventDisableTiming) == 0;
  *event =
      runtime().events.add(std::make_shared<Event>(current_device(), timing));
}

void record(hipEvent_t handle, hipStream_t stream) {
  const std::shared_ptr<Event> event = runtime().events.get(handle);
  require(event->device == runtime().stream(stream)->device,
          hipErrorInvalidHandle);
  const std::lock_guard<std::mutex> guard(event->mutex);
  event->moment = runtime().submit(stream, nothing);
}

void wait_in_stream(hipStream_t stream, hipEvent_t event) {
  const MomentPointer moment = runtime().events.get(event)->recorded();
  if (moment)
    runtime().submit(stream, [=] { return moment->wait(); });
  else
    runtime().stream(stream); // so that a handle that is none is an error
}

MomentPointer timed(hipEvent_t handle) {
  const std::shared_ptr<Event> event = runtime().events.get(handle);
  const MomentPointer moment = event->recorded();
  require(event->timing && moment, hipErrorInvalidHandle);
  succeed(moment->query());
  return moment;
}

} // namespace

STANDIN_API hipStreamCreateWithFlags(hipStream_t *stream, unsigned flags) {
  return call(
      "hipStreamCreateWithFlags",
      [=] {
        require(flags <= hipStreamNonBlocking, hipErrorInvalidValue);
        const bool blocking = flags != hipStreamNonBlocking;
        *stream = runtime().streams.add(
            std::make_shared<Stream>(current_device(), blocking));
      },
      flags);
}

STANDIN_API hipStreamDestroy(hipStream_t stream) {
  return call(
      "hipStreamDestroy",
      [=] {
        const auto taken = runtime().streams.take(stream);
        taken->last()->wait();
      },
      stream);
}

STANDIN_API hipStreamSynchronize(hipStream_t stream) {
  return call(
      "hipStreamSynchronize",
      [=] { succeed(runtime().stream(stream)->last()->wait()); }, stream);
}

STANDIN_API hipStreamQuery(hipStream_t stream) {
  return call(
      "hipStreamQuery",
      [=] { succeed(runtime().stream(stream)->last()->query()); }, stream);
}

STANDIN_API hipStreamWaitEvent(hipStream_t stream, hipEvent_t event,
                               unsigned flags) {
  return call(
      "hipStreamWaitEvent",
      [=] {
        require(flags == 0, hipErrorInvalidValue);
        wait_in_stream(stream, event);
      },
      stream, event, flags);
}

STANDIN_API hipEventCreateWithFlags(hipEvent_t *event, unsigned flags) {
  return call(
      "hipEventCreateWithFlags", [=] { create_event(event, flags); }, flags);
}

STANDIN_API hipEventCreate(hipEvent_t *event) {
  return call("hipEventCreate", [=] { create_event(event, 0); });
}

STANDIN_API hipEventDestroy(hipEvent_t event) {
  return call("hipEventDestroy", [=] { runtime().events.take(event); }, event);
}

STANDIN_API hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return call("hipEventRecord", [=] { record(event, stream); }, event, stream);
}

STANDIN_API hipEventQuery(hipEvent_t event) {
  return call(
      "hipEventQuery",
      [=] {
        const MomentPointer moment = runtime().events.get(event)->recorded();
        succeed(moment ? moment->query() : hipSuccess);
      },
      event);
}

STANDIN_API hipEventSynchronize(hipEvent_t event) {
  return call(
      "hipEventSynchronize",
      [=] {
        const MomentPointer moment = runtime().events.get(event)->recorded();
        succeed(moment ? moment->wait() : hipSuccess);
      },
      event);
}

STANDIN_API hipEventElapsedTime(float *milliseconds, hipEvent_t start,
                                hipEvent_t stop) {
  return call(
      "hipEventElapsedTime",
      [=] {
        const auto taken = timed(stop)->time() - timed(start)->time();
        *milliseconds = std::chrono::duration<float, std::milli>(taken).count();
      },
      start, stop);
}
