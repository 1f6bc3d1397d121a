/* SPDX-License-Identifier: MIT */
/** @file
 * @brief Faults of a controller: late, lost, dead, and what comes after. */

#include <pthread.h>

#include "programs.h"

enum { KEYS = 20, SIZE = 512 };

static struct xiokv_key keys[KEYS];
static struct xiokv_result results[KEYS];
static unsigned char values[KEYS][SIZE];

static void strike(xiokv_emu *emu, uint32_t kind, uint8_t opcode,
                   uint64_t amount) {
  struct xiokv_emu_fault fault;
  memset(&fault, 0, sizeof fault);
  fault.struct_size = sizeof fault;
  fault.kind = kind;
  fault.opcode = opcode;
  fault.amount = amount;
  CHECK(xiokv_emu_fault(emu, &fault) == 0);
}

static int outcomes(enum xiokv_outcome outcome) {
  int i, found = 0;
  for (i = 0; i < KEYS; i++)
    found += results[i].outcome == outcome;
  return found;
}

/** A completion that never comes: TIMEOUT, a dead queue, and a reset. */
static void lost(xiokv_emu *emu, struct xiokv_ctx *ctx) {
  struct xiokv_request request = make_values(keys, KEYS, values, sizeof values);
  struct xiokv_queue_report report;
  CHECK(xiokv_store(ctx, &request, NULL) == 0);
  strike(emu, XIOKV_EMU_DROP, XIOKV_OPC_EXIST, 0);
  request.timeout_ns = 30 * MS;
  CHECK(xiokv_exist(ctx, &request, results) == KEYS);
  CHECK(outcomes(XIOKV_OUTCOME_TIMEOUT) == KEYS);
  CHECK(results[0].status == XIOKV_NO_STATUS);
  CHECK(xiokv_count(ctx, &report) == 0 && report.timeouts == KEYS);
  xiokv_emu_clear_faults(emu);
  CHECK_REFUSED(xiokv_retrieve(ctx, &request, NULL), XIOKV_E_DEAD_QUEUE,
                "xiokv_reset replaces it");
  CHECK(xiokv_reset(ctx) == 0);
  CHECK(xiokv_retrieve(ctx, &request, NULL) == 0);
}

/** One key's error does not stop the others. */
static void status(xiokv_emu *emu, struct xiokv_ctx *ctx) {
  struct xiokv_request request = make_request(keys, KEYS);
  struct xiokv_emu_fault fault;
  memset(&fault, 0, sizeof fault);
  fault.struct_size = sizeof fault;
  fault.kind = XIOKV_EMU_STATUS;
  fault.status = XIOKV_SC_UNRECOVERED_ERROR;
  fault.key_length = 2;
  memcpy(fault.key, "k5", 2);
  CHECK(xiokv_emu_fault(emu, &fault) == 0);
  CHECK(xiokv_exist(ctx, &request, results) == 1);
  CHECK(results[5].outcome == XIOKV_OUTCOME_ERROR);
  CHECK(results[5].status == XIOKV_SC_UNRECOVERED_ERROR);
  xiokv_emu_clear_faults(emu);
}

/** Late completions, waits with a limit, and a cancelled batch. */
static void late(xiokv_emu *emu, struct xiokv_ctx *ctx) {
  static struct xiokv_key many[2000];
  struct xiokv_request request = make_request(many, 2000);
  static struct xiokv_result some[2000];
  struct xiokv_handle *handle;
  int i, cancelled = 0;
  for (i = 0; i < 2000; i++)
    many[i] = keys[i % KEYS];
  strike(emu, XIOKV_EMU_DELAY, XIOKV_OPC_EXIST, 20000);
  CHECK(xiokv_start(ctx, XIOKV_OPC_EXIST, &request, &handle) == 0);
  CHECK_REFUSED(xiokv_handle_wait(handle, 1 * MS, some, 2000), XIOKV_E_TIMEOUT,
                "not ended yet");
  CHECK(xiokv_handle_done(handle) == 0);
  CHECK(xiokv_handle_cancel(handle) == 0);
  CHECK(xiokv_handle_wait(handle, -1, some, 2000) > 0);
  for (i = 0; i < 2000; i++) {
    CHECK(some[i].outcome == XIOKV_OUTCOME_OK ||
          some[i].outcome == XIOKV_OUTCOME_CANCELLED);
    cancelled += some[i].outcome == XIOKV_OUTCOME_CANCELLED;
  }
  CHECK(cancelled > 0);
  CHECK(xiokv_handle_cancel(handle) == 0); /* too late: does nothing */
  CHECK(xiokv_handle_free(handle) == 0);
  xiokv_emu_clear_faults(emu);
  request.count = KEYS;
  CHECK(xiokv_exist(ctx, &request, NULL) == 0);
}

/** A List that times out leaves nothing that the next one trips over. */
static int any_key(void *argument, const struct xiokv_key *key) {
  (void)key;
  ++*(int *)argument;
  return 0;
}

static void late_list(xiokv_emu *emu, struct xiokv_ctx *ctx) {
  int found = 0;
  strike(emu, XIOKV_EMU_DROP, XIOKV_OPC_LIST, 0);
  CHECK_REFUSED(xiokv_list(ctx, NULL, any_key, &found), XIOKV_E_DEAD_QUEUE,
                "no completion in time");
  xiokv_emu_clear_faults(emu);
  CHECK(xiokv_reset(ctx) == 0);
  CHECK(xiokv_list(ctx, NULL, any_key, &found) == 0 && found == KEYS);
}

/** A controller that is dead, and then reset: its queues are gone. */
static void dead(xiokv_emu *emu, struct xiokv_ctx *ctx) {
  struct xiokv_request request = make_request(keys, KEYS);
  request.timeout_ns = 20 * MS;
  xiokv_emu_kill(emu, 0);
  CHECK(xiokv_exist(ctx, &request, results) == KEYS);
  CHECK(outcomes(XIOKV_OUTCOME_TIMEOUT) == KEYS);
  xiokv_emu_reset(emu);
  CHECK_REFUSED(xiokv_reset(ctx), XIOKV_E_CONTROLLER, "Delete I/O Submission");
  CHECK(xiokv_confirm_deleted(ctx) == 0);
  CHECK_REFUSED(xiokv_exist(ctx, &request, NULL), XIOKV_E_DEAD_QUEUE,
                "queues were deleted");
  CHECK(xiokv_reset(ctx) == 0);
  request.timeout_ns = 0;
  CHECK(xiokv_exist(ctx, &request, NULL) == 0);
}

/** A controller that does not delete a queue: the context stays. */
static struct xiokv_controller real;
static int stubborn;

static int delete_or_not(void *context, uint32_t qid, char *why, size_t size) {
  if (!stubborn)
    return real.delete_queue(context, qid, why, size);
  snprintf(why, size, "queue %u stays", qid);
  return -1;
}

static void stays(xiokv_emu *emu) {
  struct xiokv_request request = make_request(keys, 1);
  struct xiokv_controller controller;
  struct xiokv_module *module;
  struct xiokv_ctx *ctx;
  CHECK(xiokv_emu_controller(emu, &real) == 0);
  controller = real;
  controller.delete_queue = delete_or_not;
  CHECK(xiokv_load(NULL, &module) == 0);
  CHECK(xiokv_attach(module, &controller, NULL, &ctx) == 0);
  stubborn = 1;
  CHECK_REFUSED(xiokv_detach(ctx), -1, "stays");
  CHECK(xiokv_exist(ctx, &request, NULL) == 0);
  stubborn = 0;
  CHECK(xiokv_detach(ctx) == 0);
  CHECK(xiokv_unload(module) == 0);
}

/** A batch in flight when its context is detached from another thread. */
static void *detach(void *argument) {
  struct xiokv_ctx *ctx = argument;
  CHECK(xiokv_detach(ctx) == 0);
  return NULL;
}

static void detached_in_flight(xiokv_emu *emu) {
  struct xiokv_ctx *ctx = attach_emulator(emu, NULL);
  struct xiokv_request request = make_request(keys, KEYS);
  struct xiokv_handle *handle;
  pthread_t thread;
  strike(emu, XIOKV_EMU_DELAY, XIOKV_OPC_EXIST, 20000);
  CHECK(xiokv_start(ctx, XIOKV_OPC_EXIST, &request, &handle) == 0);
  CHECK(pthread_create(&thread, NULL, detach, ctx) == 0);
  CHECK(xiokv_handle_wait(handle, -1, results, KEYS) == 0);
  pthread_join(thread, NULL);
  CHECK_REFUSED(xiokv_exist(ctx, &request, NULL), XIOKV_E_HANDLE, "context");
  CHECK(xiokv_handle_wait(handle, -1, results, KEYS) == 0);
  CHECK(xiokv_handle_free(handle) == 0);
  xiokv_emu_clear_faults(emu);
}

void run_faults(void) {
  struct xiokv_attach_config config;
  xiokv_emu *emu = make_emulator();
  struct xiokv_ctx *ctx;
  int i;
  memset(&config, 0, sizeof config);
  config.struct_size = sizeof config;
  config.queues = 2;
  config.timeout_ns = 200 * MS;
  ctx = attach_emulator(emu, &config);
  for (i = 0; i < KEYS; i++) {
    char name[32];
    snprintf(name, sizeof name, "k%d", i);
    keys[i] = make_key(name);
  }
  lost(emu, ctx);
  status(emu, ctx);
  late(emu, ctx);
  late_list(emu, ctx);
  dead(emu, ctx);
  stays(emu);
  detached_in_flight(emu);
  CHECK(xiokv_detach(ctx) == 0);
  xiokv_emu_destroy(emu);
}
