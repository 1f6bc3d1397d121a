// Copied by `xiokv-gen build` from the static templates of xiokv; do not edit.
// clang-format off
// SPDX-License-Identifier: MIT
/// @file
/// @brief Errors, streams and launches of the library libxiokv; a part of its
/// main header, which says what all calls have in common.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/// @brief Version of this interface, which is that of the library's name,
/// libxiokv.so.1. Functions are added to it; what is there stays as it is.
#define XIOKV_HOST_VERSION 1u

/// @brief Codes of calls, beside those of enum xiokv_error.
enum xiokv_call_error {
  /// @brief An argument is not allowed; nothing was submitted.
  XIOKV_E_ARGUMENT = -32,
  /// @brief A handle of nothing: it was closed, or is of another kind.
  XIOKV_E_HANDLE = -33,
  /// @brief No such file, module, symbol or device.
  XIOKV_E_MISSING = -34,
  /// @brief A module that is there and cannot be used.
  XIOKV_E_MODULE = -35,
  /// @brief A device that is no key-value namespace, in use or not allowed.
  XIOKV_E_DEVICE = -36,
  /// @brief The controller refused or failed what was asked of it.
  XIOKV_E_CONTROLLER = -37,
  /// @brief A command timed out on a queue: xiokv_reset makes new ones.
  XIOKV_E_DEAD_QUEUE = -38,
  /// @brief Not run: earlier work in its stream failed.
  XIOKV_E_STREAM = -39,
  /// @brief What was waited for did not come in time.
  XIOKV_E_TIMEOUT = -40,
  /// @brief A signal handler ran while waiting; wait again.
  XIOKV_E_INTERRUPTED = -41,
  /// @brief The system gave no memory or no thread.
  XIOKV_E_SYSTEM = -42,
  /// @brief A handle of the parent process.
  XIOKV_E_FORKED = -43,
  /// @brief Still in use; close first what uses it.
  XIOKV_E_BUSY = -44
};

/// @brief XIOKV_HOST_VERSION of the library that is loaded.
uint32_t xiokv_version(void);

/// @brief What the last call of this thread that failed says: what was seen,
/// what is allowed, what to do. Never NULL; valid until the next failure.
const char *xiokv_last_error(void);

/// @name Streams: work in order, on a thread of their own.
/// @{

struct xiokv_stream;

/// @brief A function of the caller in a stream.
/// @param argument As it was submitted.
/// @param run 1; 0 where earlier work failed: only free what `argument` holds.
/// @return 0; any other number fails the stream.
typedef int (*xiokv_work)(void *argument, int run);

/// @brief Make a stream.
int xiokv_stream_create(struct xiokv_stream **stream);

/// @brief Run a function after all that the stream was given before. It may
/// make calls, but must not wait for what comes after it in its stream.
int xiokv_stream_submit(struct xiokv_stream *stream, xiokv_work work,
                        void *argument);

/// @brief Wait for all that the stream was given.
/// @return XIOKV_E_STREAM where a function failed since the last call; what
/// came after it was not run, and what comes from now on is.
int xiokv_stream_synchronize(struct xiokv_stream *stream);

/// @brief Wait for nothing, and let later work run again.
/// @return The number that a function failed with since the last call, or 0.
int xiokv_stream_clear_failure(struct xiokv_stream *stream);

/// @brief Wait for all that the stream was given, and end it.
/// @return As xiokv_stream_synchronize; it is gone either way.
int xiokv_stream_destroy(struct xiokv_stream *stream);

/// @brief End a stream once it has done what it was given, without waiting.
int xiokv_stream_abandon(struct xiokv_stream *stream);

/// @brief Wait until no stream of the process has work, as before its end.
/// @param timeout_ns Nanoseconds at most; negative: no limit.
/// @return XIOKV_E_TIMEOUT or XIOKV_E_INTERRUPTED where some have.
int xiokv_streams_settle(int64_t timeout_ns);

/// @}
/// @name Kernels of the host: what the calls on keys are made of, and what runs
/// kernels of the caller's own.
/// @{

struct xiokv_library;
struct xiokv_launch;

/// @brief A kernel of the host, such as a module's xiokv_batch_retrieve.
/// @param argument A copy of what was launched, aligned for any type.
/// @param number Which run it is: for a module's, the queue.
typedef void (*xiokv_entry)(const void *argument, uint32_t number);

/// @brief Load a shared library; nothing in it is checked.
/// @return XIOKV_E_MODULE where the system does not load it.
int xiokv_library_open(const char *path, struct xiokv_library **library);

/// @brief Address of a symbol; NULL where the library has none, which is an
/// error for xiokv_last_error. It stays valid after xiokv_library_close.
void *xiokv_library_symbol(struct xiokv_library *library, const char *name);

/// @brief Give a library up; its code stays in memory.
int xiokv_library_close(struct xiokv_library *library);

/// @brief Run a kernel in a stream, `count` times side by side, each on a
/// thread of its own.
/// @param argument Copied before the call returns; what it points to has to
/// stay until the end.
/// @param size Its bytes.
/// @param after What has to end first, in whatever stream; or NULL.
/// @param launch Gets a handle, for xiokv_launch_free.
int xiokv_launch_start(struct xiokv_stream *stream, xiokv_entry entry,
                       const void *argument, size_t size, uint32_t count,
                       struct xiokv_launch *after,
                       struct xiokv_launch **launch);

/// @brief Wait for the end.
/// @param timeout_ns Nanoseconds at most; negative: no limit.
/// @return XIOKV_E_TIMEOUT, XIOKV_E_INTERRUPTED, or XIOKV_E_STREAM where it
/// ended without having run.
int xiokv_launch_wait(struct xiokv_launch *launch, int64_t timeout_ns);

/// @brief Whether it has ended: 1 or 0, or a negative code.
int xiokv_launch_done(struct xiokv_launch *launch);

/// @brief What is known of a launch that has ended; pointers may be NULL.
/// @param nanoseconds Gets how long its kernel ran.
/// @param sharing Gets how many runs came one after the other on one thread,
/// because the system gave no more.
int xiokv_launch_times(struct xiokv_launch *launch, int64_t *nanoseconds,
                       uint32_t *sharing);

/// @brief Give the handle up; what runs goes on.
int xiokv_launch_free(struct xiokv_launch *launch);

/// @}
#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
