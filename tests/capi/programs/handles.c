/* SPDX-License-Identifier: MIT */
/** @file
 * @brief Handles that were closed, streams, kernels of the caller's own, fork.
 */

#include <sys/wait.h>
#include <unistd.h>

#include "programs.h"

static int runs[4];

static int note_run(void *argument, int run) {
  __atomic_store_n((int *)argument, run ? 1 : 2, __ATOMIC_RELEASE);
  return 0;
}

static int fail(void *argument, int run) {
  (void)argument;
  return run ? 5 : 0;
}

static void square(const void *argument, uint32_t number) {
  int *const *numbers = argument;
  (*numbers)[number] = (int)(number * number);
}

static void streams(void) {
  struct xiokv_stream *stream;
  struct xiokv_launch *first, *second;
  int *numbers = runs;
  int64_t took;
  uint32_t sharing;
  CHECK(xiokv_stream_create(&stream) == 0);
  CHECK(xiokv_launch_start(stream, square, &numbers, sizeof numbers, 4, NULL,
                           &first) == 0);
  CHECK(xiokv_launch_wait(first, -1) == 0 && runs[3] == 9);
  CHECK(xiokv_launch_done(first) == 1);
  CHECK(xiokv_launch_times(first, &took, &sharing) == 0);
  CHECK(took > 0 && sharing == 0);
  CHECK(xiokv_stream_submit(stream, fail, NULL) == 0);
  CHECK(xiokv_stream_submit(stream, note_run, &runs[0]) == 0);
  CHECK(xiokv_launch_start(stream, square, &numbers, sizeof numbers, 1, first,
                           &second) == 0);
  CHECK_REFUSED(xiokv_launch_wait(second, -1), XIOKV_E_STREAM, "not run");
  CHECK_REFUSED(xiokv_stream_synchronize(stream), XIOKV_E_STREAM, "code 5");
  CHECK(runs[0] == 2);
  CHECK(xiokv_stream_submit(stream, note_run, &runs[0]) == 0);
  CHECK(xiokv_stream_synchronize(stream) == 0);
  CHECK(runs[0] == 1);
  CHECK_REFUSED(xiokv_stream_submit(stream, NULL, NULL), XIOKV_E_ARGUMENT,
                "work");
  CHECK_REFUSED(xiokv_launch_start(stream, NULL, NULL, 0, 1, NULL, &second),
                XIOKV_E_ARGUMENT, "entry");
  CHECK(xiokv_launch_free(first) == 0 && xiokv_launch_free(second) == 0);
  CHECK_REFUSED(xiokv_launch_wait(first, 0), XIOKV_E_HANDLE, "launch");
  CHECK(xiokv_streams_settle(-1) == 0);
  CHECK(xiokv_stream_submit(stream, fail, NULL) == 0);
  CHECK_REFUSED(xiokv_stream_destroy(stream), XIOKV_E_STREAM, "code 5");
  CHECK_REFUSED(xiokv_stream_submit(stream, fail, NULL), XIOKV_E_HANDLE,
                "stream");
  CHECK(xiokv_stream_create(&stream) == 0);
  CHECK(xiokv_stream_abandon(stream) == 0);
  CHECK(xiokv_stream_synchronize(stream) == XIOKV_E_HANDLE);
}

/** A command behind a failure in its stream was not run. */
static void not_run(struct xiokv_ctx *ctx) {
  struct xiokv_key key = make_key("a");
  unsigned char block[64];
  struct xiokv_request request = make_request(&key, 1);
  struct xiokv_result result = {0, 0, 0, 0};
  struct xiokv_stream *stream;
  CHECK(xiokv_stream_create(&stream) == 0);
  CHECK(xiokv_stream_submit(stream, fail, NULL) == 0);
  request.stream = stream;
  CHECK_REFUSED(xiokv_exist(ctx, &request, NULL), XIOKV_E_STREAM, "not run");
  CHECK(xiokv_make_current(ctx, sizeof block) == 0);
  CHECK(xio_batched_kv_retrieve(&key, 1, block, stream) == 0);
  CHECK_REFUSED(xiokv_wait(ctx, &result, 1), XIOKV_E_STREAM, "not run");
  CHECK(result.outcome == XIOKV_OUTCOME_CANCELLED);
  CHECK(xiokv_stream_destroy(stream) == XIOKV_E_STREAM);
  request.stream = NULL;
  CHECK(xiokv_exist(ctx, &request, NULL) == 1);
}

/** What a handle of another kind, or of nothing, is answered. */
static void wrong_handles(struct xiokv_ctx *ctx) {
  struct xiokv_key key = make_key("a");
  struct xiokv_request request = make_request(&key, 1);
  void *number = ctx;
  CHECK(xiokv_detach(NULL) == XIOKV_E_HANDLE);
  CHECK(xiokv_exist((struct xiokv_ctx *)&key, &request, NULL) ==
        XIOKV_E_HANDLE);
  CHECK(xiokv_stream_synchronize(number) == XIOKV_E_HANDLE);
  CHECK(xiokv_unload(number) == XIOKV_E_HANDLE);
  CHECK(xiokv_device_close(number) == XIOKV_E_HANDLE);
  CHECK(xiokv_library_symbol(number, "main") == NULL);
  CHECK(xio_batched_kv_retrieve(&key, 1, &key, number) == XIOKV_E_HANDLE);
}

static int in_child(struct xiokv_ctx *ctx) {
  struct xiokv_key key = make_key("a");
  struct xiokv_request request = make_request(&key, 1);
  struct xiokv_stream *stream;
  int runs_here[1] = {0};
  CHECK_REFUSED(xiokv_exist(ctx, &request, NULL), XIOKV_E_FORKED, "parent");
  CHECK_REFUSED(xiokv_detach(ctx), XIOKV_E_FORKED, "parent");
  CHECK(xiokv_streams_settle(-1) == 0);
  CHECK(xiokv_stream_create(&stream) == 0);
  CHECK(xiokv_stream_submit(stream, note_run, runs_here) == 0);
  CHECK(xiokv_stream_destroy(stream) == 0);
  return runs_here[0] == 1 ? 0 : 1;
}

static void child_of_fork(struct xiokv_ctx *ctx) {
  int status;
  const pid_t child = fork();
  if (child == 0)
    _exit(in_child(ctx));
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void run_handles(void) {
  xiokv_emu *emu = make_emulator();
  struct xiokv_ctx *ctx = attach_emulator(emu, NULL);
  CHECK(xiokv_version() == XIOKV_HOST_VERSION);
  streams();
  not_run(ctx);
  wrong_handles(ctx);
  child_of_fork(ctx);
  CHECK(xiokv_detach(ctx) == 0);
  CHECK(xiokv_detach(ctx) == XIOKV_E_HANDLE);
  xiokv_emu_destroy(emu);
}
