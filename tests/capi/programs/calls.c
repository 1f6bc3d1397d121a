/* SPDX-License-Identifier: MIT */
/** @file
 * @brief Every call on keys, through whatever controller; run by main.c. */

#include "programs.h"

enum { COUNT = 40, BLOCK = 4096 };

static unsigned char stored[COUNT][BLOCK], out[COUNT][BLOCK];
static struct xiokv_key keys[COUNT];
static struct xiokv_result results[COUNT];

static void prepare(void) {
  int i;
  for (i = 0; i < COUNT; i++) {
    char name[32];
    snprintf(name, sizeof name, "block %d", i);
    keys[i] = make_key(name);
    memset(stored[i], i + 1, BLOCK);
  }
  memset(out, 0, sizeof out);
}

static void store_and_retrieve(struct xiokv_ctx *ctx) {
  struct xiokv_request request =
      make_values(keys, COUNT, stored, sizeof stored);
  int i;
  CHECK(xiokv_store(ctx, &request, NULL) == 0);
  request.buffer = out;
  CHECK(xiokv_retrieve(ctx, &request, results) == 0);
  CHECK(memcmp(stored, out, sizeof out) == 0);
  for (i = 0; i < COUNT; i++) {
    CHECK(results[i].outcome == XIOKV_OUTCOME_OK);
    CHECK(results[i].value_size == BLOCK && results[i].status == 0);
  }
}

static void missing_and_truncated(struct xiokv_ctx *ctx) {
  struct xiokv_key some[3] = {keys[0], make_key("nobody"), keys[2]};
  struct xiokv_request request = make_values(some, 3, out, 3 * 64);
  memset(out, 0, sizeof out);
  CHECK(xiokv_retrieve(ctx, &request, results) == 3);
  CHECK(results[0].outcome == XIOKV_OUTCOME_TRUNCATED);
  CHECK(results[0].value_size == BLOCK);
  CHECK(memcmp(out, stored[0], 64) == 0);
  CHECK(results[1].outcome == XIOKV_OUTCOME_MISSING);
  CHECK((results[1].status & 0xff) == XIOKV_SC_KEY_DOES_NOT_EXIST);
  CHECK(((unsigned char *)out)[64] == 0);
  CHECK(results[2].outcome == XIOKV_OUTCOME_TRUNCATED);
}

static void sizes_and_offsets(struct xiokv_ctx *ctx) {
  const uint32_t sizes[] = {0, 5, 3000};
  const uint64_t offsets[] = {16, 8192, 64};
  struct xiokv_key some[] = {make_key("s0"), make_key("a key of 16 byte"),
                             make_key("x")};
  struct xiokv_request request = make_values(some, 3, stored, sizeof stored);
  request.sizes = sizes;
  request.offsets = offsets;
  CHECK(xiokv_store(ctx, &request, NULL) == 0);
  memset(out, 0xee, sizeof out);
  request.buffer = out;
  CHECK(xiokv_retrieve(ctx, &request, results) == 0);
  CHECK(results[0].value_size == 0 && results[1].value_size == 5);
  CHECK(memcmp((char *)out + 8192, (char *)stored + 8192, 5) == 0);
  CHECK(memcmp((char *)out + 64, (char *)stored + 64, 3000) == 0);
  CHECK(((unsigned char *)out)[16] == 0xee);
  CHECK(((unsigned char *)out)[8197] == 0xee);
  CHECK(((unsigned char *)out)[3064] == 0xee);
}

static void conditions(struct xiokv_ctx *ctx) {
  struct xiokv_key some[2] = {keys[0], make_key("new")};
  struct xiokv_request request = make_values(some, 2, stored, 2 * 64);
  request.options = XIOKV_STORE_DONT_STORE_IF_KEY_EXISTS;
  CHECK(xiokv_store(ctx, &request, results) == 1);
  CHECK(results[0].outcome == XIOKV_OUTCOME_EXISTS);
  request.keys = &some[1];
  request.count = 1;
  request.options =
      XIOKV_STORE_DONT_STORE_IF_KEY_NOT_EXISTS | XIOKV_STORE_DONT_COMPRESS;
  CHECK(xiokv_store(ctx, &request, NULL) == 0);
  CHECK(xiokv_delete(ctx, &request, NULL) == XIOKV_E_OPTIONS);
  request.options = 0;
  CHECK(xiokv_delete(ctx, &request, NULL) == 0);
  CHECK(xiokv_exist(ctx, &request, results) == 1);
  CHECK(results[0].outcome == XIOKV_OUTCOME_MISSING);
  request.options = XIOKV_STORE_DONT_STORE_IF_KEY_NOT_EXISTS;
  CHECK(xiokv_store(ctx, &request, results) == 1);
  CHECK(results[0].outcome == XIOKV_OUTCOME_MISSING);
}

/** Of equal keys one gets its value, whole. */
static void equal_keys(struct xiokv_ctx *ctx) {
  static struct xiokv_key same[8];
  struct xiokv_request request = make_values(same, 8, stored, 8 * BLOCK);
  int i;
  for (i = 0; i < 8; i++)
    same[i] = make_key("same");
  CHECK(xiokv_store(ctx, &request, NULL) == 0);
  request.buffer = out;
  CHECK(xiokv_retrieve(ctx, &request, results) == 0);
  for (i = 1; i < 8; i++)
    CHECK(memcmp(out[0], out[i], BLOCK) == 0);
  CHECK(memcmp(out[0], stored[out[0][0] - 1], BLOCK) == 0);
}

static int count_key(void *argument, const struct xiokv_key *key) {
  int *left = argument;
  CHECK(key->length >= 1 && key->length <= 16);
  return --*left == 0 ? 7 : 0;
}

struct deleting {
  struct xiokv_ctx *ctx;
  int deleted;
};

static int delete_key(void *argument, const struct xiokv_key *key) {
  struct deleting *into = argument;
  struct xiokv_request request = make_request(key, 1);
  CHECK(xiokv_delete(into->ctx, &request, NULL) == 0);
  into->deleted++;
  return 0;
}

static void list(struct xiokv_ctx *ctx) {
  struct deleting all = {ctx, 0};
  int left = COUNT / 2;
  CHECK(xiokv_list(ctx, NULL, count_key, &left) == 7);
  left = -1;
  CHECK(xiokv_list(ctx, &keys[0], count_key, &left) == 0);
  CHECK(left < -COUNT);
  CHECK(xiokv_list(ctx, NULL, delete_key, &all) == 0);
  CHECK(all.deleted > COUNT);
  left = -1;
  CHECK(xiokv_list(ctx, NULL, count_key, &left) == 0);
  CHECK(left == -1);
}

static void asynchronous(struct xiokv_ctx *ctx) {
  struct xiokv_request request =
      make_values(keys, COUNT, stored, sizeof stored);
  struct xiokv_handle *handles[2], *none;
  struct xiokv_stream *stream;
  struct xiokv_request empty = make_request(NULL, 0);
  CHECK(xiokv_stream_create(&stream) == 0);
  request.stream = stream;
  CHECK(xiokv_start(ctx, XIOKV_OPC_STORE, &request, &handles[0]) == 0);
  request.buffer = out;
  request.stream = NULL; /* another thread: still after the Store */
  memset(out, 0, sizeof out);
  CHECK(xiokv_start(ctx, XIOKV_OPC_RETRIEVE, &request, &handles[1]) == 0);
  CHECK(xiokv_handle_wait(handles[1], -1, results, COUNT) == 0);
  CHECK(xiokv_handle_done(handles[0]) == 1);
  CHECK(memcmp(stored, out, sizeof out) == 0);
  CHECK(xiokv_handle_wait(handles[0], 0, NULL, 0) == 0);
  CHECK(xiokv_handle_wait(handles[1], -1, results, COUNT) == 0);
  CHECK_REFUSED(xiokv_handle_wait(handles[1], -1, results, 3), XIOKV_E_ARGUMENT,
                "count is 3; the batch has 40 keys");
  CHECK(xiokv_handle_free(handles[0]) == 0 &&
        xiokv_handle_free(handles[1]) == 0);
  CHECK_REFUSED(xiokv_handle_done(handles[1]), XIOKV_E_HANDLE, "closed");
  CHECK(xiokv_start(ctx, XIOKV_OPC_EXIST, &empty, &none) == 0);
  CHECK(xiokv_handle_wait(none, 0, results, 0) == 0);
  CHECK(xiokv_handle_free(none) == 0);
  CHECK(xiokv_stream_destroy(stream) == 0);
}

static void batched(struct xiokv_ctx *ctx) {
  struct xiokv_stream *stream;
  CHECK(xiokv_stream_create(&stream) == 0);
  CHECK(xiokv_make_current(NULL, 0) == 0);
  CHECK_REFUSED(xio_batched_kv_retrieve(keys, 1, out, NULL), XIOKV_E_HANDLE,
                "xiokv_make_current");
  CHECK_REFUSED(xiokv_make_current(ctx, 6), XIOKV_E_ARGUMENT, "multiple of 4");
  CHECK(xiokv_make_current(ctx, BLOCK) == 0);
  memset(out, 0, sizeof out);
  CHECK(xio_batched_kv_retrieve(keys, 10, out, NULL) == 0);
  CHECK(memcmp(stored, out, 10 * BLOCK) == 0);
  CHECK(xio_batched_kv_retrieve(keys + 10, COUNT - 10, out[10], stream) == 0);
  CHECK(xio_batched_kv_retrieve(NULL, 0, NULL, NULL) == 0);
  CHECK_REFUSED(xiokv_wait(ctx, results, COUNT + 1), XIOKV_E_ARGUMENT,
                "n is 41, and 40 keys are to come");
  CHECK(xiokv_wait(ctx, results, 15) == 0); /* across two batches */
  CHECK(xiokv_wait(ctx, NULL, COUNT - 15) == 0);
  CHECK(memcmp(stored, out, sizeof out) == 0);
  CHECK(xiokv_wait(ctx, results, 0) == 0);
  CHECK(xiokv_make_current(NULL, 0) == 0);
  CHECK(xiokv_stream_destroy(stream) == 0);
}

void run_calls(struct xiokv_ctx *ctx) {
  struct xiokv_queue_report report;
  prepare();
  store_and_retrieve(ctx);
  missing_and_truncated(ctx);
  sizes_and_offsets(ctx);
  conditions(ctx);
  equal_keys(ctx);
  list(ctx);
  asynchronous(ctx);
  batched(ctx);
  CHECK(xiokv_quiesce(ctx) == 0);
  CHECK(xiokv_count(ctx, &report) == 0);
  CHECK(report.completed == report.submitted && report.completed > COUNT);
  CHECK(report.timeouts == 0 && report.stale == 0);
}
