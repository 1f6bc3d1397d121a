/* SPDX-License-Identifier: MIT */
/** @file
 * @brief Arguments that are refused, each with a code and a reason; nothing is
 * submitted. */

#include "programs.h"

static struct xiokv_key key;
static unsigned char block[256];

static void requests(struct xiokv_ctx *ctx) {
  struct xiokv_request good = make_values(&key, 1, block, 64), bad = good;
  struct xiokv_key two[2] = {make_key("a"), make_key("b")};
  const uint64_t near[] = {0, 32}, odd[] = {2}, far[] = {1024};
  struct xiokv_handle *handle;

  CHECK_REFUSED(xiokv_store(ctx, NULL, NULL), XIOKV_E_ARGUMENT, "request");
  bad.struct_size = 0;
  CHECK_REFUSED(xiokv_store(ctx, &bad, NULL), XIOKV_E_ARGUMENT, "struct_size");
  bad = good;
  bad.keys = NULL;
  CHECK_REFUSED(xiokv_store(ctx, &bad, NULL), XIOKV_E_ARGUMENT, "keys is NULL");
  bad = good;
  bad.buffer = NULL;
  CHECK_REFUSED(xiokv_retrieve(ctx, &bad, NULL), XIOKV_E_ARGUMENT,
                "buffer is NULL");
  key.length = 0;
  CHECK_REFUSED(xiokv_exist(ctx, &good, NULL), XIOKV_E_KEY_LENGTH,
                "key 0 has 0 bytes; 1 to 16");
  key.length = 17;
  CHECK_REFUSED(xiokv_exist(ctx, &good, NULL), XIOKV_E_KEY_LENGTH, "17 bytes");
  key.length = 300;
  CHECK_REFUSED(xiokv_store(ctx, &good, NULL), XIOKV_E_KEY_LENGTH, "300 bytes");
  key = make_key("a");
  bad = good;
  bad.size = (size_t)1 << 33;
  CHECK_REFUSED(xiokv_store(ctx, &bad, NULL), XIOKV_E_VALUE_SIZE,
                "value 0 has 8589934592 bytes; 0 to 64 are what its slot");
  CHECK_REFUSED(xiokv_retrieve(ctx, &bad, NULL), XIOKV_E_VALUE_SIZE,
                "slot 0 is to take 8589934592 bytes; 0 to 64 are what it");
  bad.buffer_size = bad.size;
  CHECK_REFUSED(xiokv_store(ctx, &bad, NULL), XIOKV_E_VALUE_SIZE,
                "0 to 1048576 are what one command may carry");
  CHECK_REFUSED(
      xiokv_retrieve(ctx, &bad, NULL), XIOKV_E_VALUE_SIZE,
      "slot 0 is to take 8589934592 bytes; 0 to 1048576 are what one");
  bad = good;
  bad.stride = 128;
  CHECK_REFUSED(xiokv_store(ctx, &bad, NULL), XIOKV_E_ARGUMENT,
                "value 0 of 128 bytes at 0 leaves the buffer of 64 bytes");
  CHECK_REFUSED(xiokv_retrieve(ctx, &bad, NULL), XIOKV_E_ARGUMENT,
                "slot 0 of 128 bytes at 0 leaves the buffer of 64 bytes");
  bad = good;
  bad.buffer = block + 1;
  CHECK_REFUSED(xiokv_store(ctx, &bad, NULL), XIOKV_E_ARGUMENT,
                "a value begins at a multiple of 4");
  CHECK_REFUSED(xiokv_retrieve(ctx, &bad, NULL), XIOKV_E_ARGUMENT,
                "a slot begins at a multiple of 4");
  bad = good;
  bad.options = 1u << 7;
  CHECK_REFUSED(xiokv_store(ctx, &bad, NULL), XIOKV_E_OPTIONS, "0x80");
  bad.options = XIOKV_STORE_DONT_STORE_IF_KEY_EXISTS |
                XIOKV_STORE_DONT_STORE_IF_KEY_NOT_EXISTS;
  CHECK_REFUSED(xiokv_store(ctx, &bad, NULL), XIOKV_E_OPTIONS,
                "no key is both");
  bad = good;
  bad.semantic.cdw12 = 1;
  CHECK_REFUSED(xiokv_store(ctx, &bad, NULL), XIOKV_E_SEMANTIC, "profile");
  bad = good;
  bad.keys = two;
  bad.count = 2;
  bad.buffer_size = 63;
  CHECK_REFUSED(xiokv_store(ctx, &bad, NULL), XIOKV_E_ARGUMENT, "evenly");
  bad.buffer_size = 64;
  bad.offsets = near;
  CHECK_REFUSED(xiokv_retrieve(ctx, &bad, NULL), XIOKV_E_ARGUMENT, "sizes");
  bad.size = 33;
  CHECK_REFUSED(xiokv_retrieve(ctx, &bad, NULL), XIOKV_E_ARGUMENT,
                "leaves the buffer");
  bad.buffer_size = 128;
  CHECK_REFUSED(xiokv_retrieve(ctx, &bad, NULL), XIOKV_E_ARGUMENT,
                "keys 0 and 1 overlap");
  CHECK(xiokv_store(ctx, &bad, NULL) == 0); /* a Store may read twice */
  bad.stride = 64;
  CHECK_REFUSED(xiokv_store(ctx, &bad, NULL), XIOKV_E_ARGUMENT, "one of both");
  bad = good;
  bad.size = 4;
  bad.offsets = odd;
  CHECK_REFUSED(xiokv_store(ctx, &bad, NULL), XIOKV_E_ARGUMENT, "offset 2");
  bad.offsets = far;
  CHECK_REFUSED(xiokv_store(ctx, &bad, NULL), XIOKV_E_ARGUMENT, "at 1024");
  CHECK_REFUSED(xiokv_start(ctx, XIOKV_OPC_LIST, &good, &handle),
                XIOKV_E_OPCODE, "0x6");
  CHECK_REFUSED(xiokv_start(ctx, XIOKV_OPC_EXIST, &good, NULL),
                XIOKV_E_ARGUMENT, "handle");
  CHECK_REFUSED(xiokv_list(ctx, NULL, NULL, NULL), XIOKV_E_ARGUMENT, "each");
  bad = make_request(NULL, 0);
  CHECK(xiokv_store(ctx, &bad, NULL) == 0);
}

/** A structure of a caller that is older or newer than the library. */
static void sizes_of_structures(struct xiokv_ctx *ctx) {
  struct {
    struct xiokv_request request;
    uint64_t more;
  } newer;
  struct xiokv_request smaller = make_request(&key, 1);
  memset(&newer, 0, sizeof newer);
  newer.request = make_request(&key, 1);
  newer.request.struct_size = sizeof newer;
  CHECK(xiokv_exist(ctx, &newer.request, NULL) >= 0);
  newer.more = 1;
  CHECK_REFUSED(xiokv_exist(ctx, &newer.request, NULL), XIOKV_E_ARGUMENT,
                "does not know to 0");
  smaller.struct_size = sizeof(void *); /* of a pointer, by mistake */
  CHECK_REFUSED(xiokv_exist(ctx, &smaller, NULL), XIOKV_E_ARGUMENT,
                "set it to the sizeof");
}

/* A value is not replaced by an empty one for want of a size. */
static void forgotten_sizes(struct xiokv_ctx *ctx) {
  static char value[64];
  const uint32_t none = 0;
  struct xiokv_request store = make_request(&key, 1);
  CHECK_REFUSED(xiokv_store(ctx, &store, NULL), XIOKV_E_ARGUMENT,
                "buffer_size is 0");
  store.buffer = value;
  CHECK_REFUSED(xiokv_store(ctx, &store, NULL), XIOKV_E_ARGUMENT,
                "buffer_size is 0");
  CHECK_REFUSED(xiokv_retrieve(ctx, &store, NULL), XIOKV_E_ARGUMENT,
                "buffer_size is 0");
  store.sizes = &none;
  CHECK(xiokv_store(ctx, &store, NULL) == 0);
  CHECK(xiokv_delete(ctx, &store, NULL) >= 0);
}

static void attaching(xiokv_emu *emu) {
  struct xiokv_attach_config config;
  struct xiokv_controller controller, lacking;
  struct xiokv_module *module;
  struct xiokv_ctx *ctx;
  memset(&config, 0, sizeof config);
  config.struct_size = sizeof config;
  CHECK(xiokv_load(NULL, &module) == 0);
  CHECK(xiokv_emu_controller(emu, &controller) == 0);
  lacking = controller;
  lacking.delete_queue = NULL;
  CHECK_REFUSED(xiokv_attach(module, &lacking, NULL, &ctx), XIOKV_E_ARGUMENT,
                "lacks a function");
  CHECK_REFUSED(xiokv_attach(module, NULL, NULL, &ctx), XIOKV_E_ARGUMENT,
                "controller");
  CHECK_REFUSED(xiokv_attach(NULL, &controller, NULL, &ctx), XIOKV_E_HANDLE,
                "module");
  CHECK_REFUSED(xiokv_attach(module, &controller, NULL, NULL), XIOKV_E_ARGUMENT,
                "ctx");
  config.depth = 1;
  CHECK_REFUSED(xiokv_attach(module, &controller, &config, &ctx),
                XIOKV_E_ARGUMENT, "depth 1: 2 to 65536");
  config.depth = 0;
  config.queues = 17;
  CHECK_REFUSED(xiokv_attach(module, &controller, &config, &ctx),
                XIOKV_E_ARGUMENT, "queues 17: 1 to 16");
  config.queues = 0;
  config.nsid = 2;
  CHECK(xiokv_attach(module, &controller, &config, &ctx) < 0);
  config.nsid = 1;
  config.window = 65536;
  CHECK_REFUSED(xiokv_attach(module, &controller, &config, &ctx),
                XIOKV_E_ARGUMENT, "window");
  CHECK(xiokv_unload(module) == 0);
}

static void loading(void) {
  struct xiokv_module *module;
  struct xiokv_library *library;
  char line[512];
  CHECK_REFUSED(xiokv_load("/nowhere", &module), XIOKV_E_MISSING,
                "no module at /nowhere");
  CHECK_REFUSED(xiokv_load("/etc/passwd", &module), XIOKV_E_MODULE,
                "is no module");
  CHECK_REFUSED(xiokv_load(NULL, NULL), XIOKV_E_ARGUMENT, "module");
  CHECK_REFUSED(xiokv_library_open("/etc/passwd", &library), XIOKV_E_MODULE,
                "cannot be loaded");
  CHECK(xiokv_load(NULL, &module) == 0);
  CHECK(xiokv_module_describe(module, NULL, 0) > 0);
  CHECK(xiokv_module_describe(module, line, sizeof line) > 0);
  CHECK(strstr(line, "xiokv_host.so: host module for ") != NULL);
  CHECK(xiokv_unload(module) == 0);
  CHECK(xiokv_unload(module) == XIOKV_E_HANDLE);
}

void run_refused(void) {
  xiokv_emu *emu = make_emulator();
  struct xiokv_ctx *ctx = attach_emulator(emu, NULL);
  struct xiokv_controller_limits limits;
  key = make_key("a");
  CHECK(xiokv_limits_of(ctx, &limits) == 0);
  CHECK(limits.key_max == 16 && limits.value_max == 1 << 20);
  CHECK(limits.transfer_max == 1 << 20 && limits.queues_max == 16);
  requests(ctx);
  sizes_of_structures(ctx);
  forgotten_sizes(ctx);
  attaching(emu);
  loading();
  CHECK(xiokv_detach(ctx) == 0);
  xiokv_emu_destroy(emu);
}
