// SPDX-License-Identifier: MIT
/// @file
/// @brief The calls of xiokv.h for libraries, streams and launches.

#include "fault.h"
#include "handles.h"
#include "library.h"
#include "stream.h"

namespace xiokv::host {

namespace {

using Libraries = Handles<Library, xiokv_library>;
using Streams = Handles<Stream, xiokv_stream>;
using Launches = Handles<Launch, xiokv_launch>;

int code_of(Waited waited) {
  switch (waited) {
  case Waited::expired:
    return keep_error(XIOKV_E_TIMEOUT, "what was waited for did not come in "
                                       "time; wait again");
  case Waited::interrupted:
    return keep_error(XIOKV_E_INTERRUPTED,
                      "a signal came while waiting; wait again");
  default:
    return XIOKV_E_OK;
  }
}

int skipped() {
  return keep_error(XIOKV_E_STREAM,
                    "not run: earlier work in its stream failed; "
                    "xiokv_stream_synchronize lets it go on");
}

void settle_out(Stream &stream) {
  while (stream.settle(forever) != Waited::come)
    continue;
}

/// The failure of a stream that nobody was told of yet.
int told(Stream &stream) {
  const int code = stream.take_failure();
  if (code != 0)
    refuse(XIOKV_E_STREAM, "work in the stream failed with code %d", code);
  return XIOKV_E_OK;
}

} // namespace

} // namespace xiokv::host

using namespace xiokv::host;

const char *xiokv_last_error(void) { return last_error(); }

uint32_t xiokv_version(void) { return XIOKV_HOST_VERSION; }

int xiokv_library_open(const char *path, struct xiokv_library **library) {
  return guarded([&] {
    need(path, "path");
    need(library, "library");
    *library = Libraries::add(std::make_shared<Library>(path));
    return XIOKV_E_OK;
  });
}

int xiokv_library_close(struct xiokv_library *library) {
  return guarded([&] {
    Libraries::take(library);
    return XIOKV_E_OK;
  });
}

void *xiokv_library_symbol(struct xiokv_library *library, const char *name) {
  void *found = nullptr;
  guarded([&] {
    need(name, "name");
    const auto held = Libraries::find(library);
    found = held->symbol(name);
    if (found == nullptr)
      refuse(XIOKV_E_MISSING, "%s has no symbol %s", held->path().c_str(),
             name);
    return XIOKV_E_OK;
  });
  return found;
}

int xiokv_stream_create(struct xiokv_stream **stream) {
  return guarded([&] {
    need(stream, "stream");
    *stream = Streams::add(Stream::start());
    return XIOKV_E_OK;
  });
}

int xiokv_stream_submit(struct xiokv_stream *stream, xiokv_work work,
                        void *argument) {
  return guarded([&] {
    if (work == nullptr)
      refuse(XIOKV_E_ARGUMENT, "work is NULL; give a function");
    Streams::find(stream)->submit(work, argument);
    return XIOKV_E_OK;
  });
}

int xiokv_stream_synchronize(struct xiokv_stream *stream) {
  return guarded([&] {
    const auto held = Streams::find(stream);
    settle_out(*held);
    return told(*held);
  });
}

int xiokv_stream_clear_failure(struct xiokv_stream *stream) {
  return guarded([&] { return Streams::find(stream)->take_failure(); });
}

int xiokv_stream_abandon(struct xiokv_stream *stream) {
  return guarded([&] {
    Streams::take(stream)->close();
    return XIOKV_E_OK;
  });
}

int xiokv_stream_destroy(struct xiokv_stream *stream) {
  return guarded([&] {
    const auto held = Streams::take(stream);
    settle_out(*held);
    held->close();
    return told(*held);
  });
}

int xiokv_streams_settle(int64_t timeout_ns) {
  return guarded([&] { return code_of(settle_all(timeout_ns)); });
}

int xiokv_launch_start(struct xiokv_stream *stream, xiokv_entry entry,
                       const void *argument, size_t size, uint32_t count,
                       struct xiokv_launch *after,
                       struct xiokv_launch **launch) {
  return guarded([&] {
    need(launch, "launch");
    if (count != 0 && entry == nullptr)
      refuse(XIOKV_E_ARGUMENT, "entry is NULL; give a kernel, or count 0");
    if (size != 0)
      need(argument, "argument");
    const auto in = Streams::find(stream);
    const auto first = after == nullptr ? nullptr : Launches::find(after);
    const auto made =
        std::make_shared<Launch>(entry, argument, size, count, first);
    // Before it is given: an interrupt may come once it runs.
    *launch = Launches::add(made);
    try {
      in->launch(made);
    } catch (...) {
      Launches::take(*launch);
      *launch = nullptr;
      throw;
    }
    return XIOKV_E_OK;
  });
}

int xiokv_launch_wait(struct xiokv_launch *launch, int64_t timeout_ns) {
  return guarded([&] {
    const auto held = Launches::find(launch);
    const int waited = code_of(held->wait(timeout_ns));
    if (waited != XIOKV_E_OK)
      return waited;
    return held->code() == 0 ? XIOKV_E_OK : skipped();
  });
}

int xiokv_launch_done(struct xiokv_launch *launch) {
  return guarded([&] { return Launches::find(launch)->ended() ? 1 : 0; });
}

int xiokv_launch_times(struct xiokv_launch *launch, int64_t *nanoseconds,
                       uint32_t *sharing) {
  return guarded([&] {
    const auto held = Launches::find(launch);
    if (!held->ended())
      refuse(XIOKV_E_TIMEOUT, "the launch has not ended yet; wait for it");
    if (nanoseconds != nullptr)
      *nanoseconds = held->nanoseconds();
    if (sharing != nullptr)
      *sharing = held->sharing();
    return XIOKV_E_OK;
  });
}

int xiokv_launch_free(struct xiokv_launch *launch) {
  return guarded([&] {
    Launches::take(launch);
    return XIOKV_E_OK;
  });
}
