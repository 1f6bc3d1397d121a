/* SPDX-License-Identifier: MIT */
/** @file
 * @brief What the programs share: checks that say where they failed, and a
 * context on the embedded controller or on what stands in for a device. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xiokv.h"
#include "xiokv_emulator.h"

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: %s\nlast error: %s\n", __FILE__, __LINE__,       \
              #condition, xiokv_last_error());                                 \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

/** A call that has to return a code and to say something of it. */
#define CHECK_REFUSED(call, code, words)                                       \
  do {                                                                         \
    const int returned_ = (call);                                              \
    if (returned_ != (code) || !strstr(xiokv_last_error(), words)) {           \
      fprintf(stderr, "%s:%d: %s\nreturned %d and says: %s\n", __FILE__,       \
              __LINE__, #call, returned_, xiokv_last_error());                 \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

enum { MS = 1000000 };

/** A controller without faults: 16 queues, values of 1 MiB. */
static inline xiokv_emu *make_emulator(void) {
  struct xiokv_emu_config config;
  char why[200] = "";
  xiokv_emu *emu;
  memset(&config, 0, sizeof config);
  config.struct_size = sizeof config;
  config.queues = 16;
  config.value_max = 1 << 20;
  config.threads = 1;
  emu = xiokv_emu_create(&config, why, sizeof why);
  CHECK(emu != NULL);
  CHECK(xiokv_emu_start(emu) == 0);
  return emu;
}

static inline struct xiokv_ctx *
attach_emulator(xiokv_emu *emu, const struct xiokv_attach_config *config) {
  struct xiokv_controller controller;
  struct xiokv_module *module;
  struct xiokv_ctx *ctx;
  CHECK(xiokv_emu_controller(emu, &controller) == 0);
  CHECK(xiokv_load(NULL, &module) == 0);
  CHECK(xiokv_attach(module, &controller, config, &ctx) == 0);
  CHECK(xiokv_unload(module) == 0); /* the context keeps it */
  return ctx;
}

static inline struct xiokv_key make_key(const char *text) {
  struct xiokv_key key;
  memset(&key, 0x5a, sizeof key); /* bytes past the length do not count */
  key.length = (uint32_t)strlen(text);
  memcpy(key.bytes, text, strlen(text));
  return key;
}

static inline struct xiokv_request make_request(const struct xiokv_key *keys,
                                                size_t count) {
  struct xiokv_request request;
  memset(&request, 0, sizeof request);
  request.struct_size = sizeof request;
  request.keys = keys;
  request.count = count;
  return request;
}

static inline struct xiokv_request make_values(const struct xiokv_key *keys,
                                               size_t count, void *buffer,
                                               size_t size) {
  struct xiokv_request request = make_request(keys, count);
  request.buffer = buffer;
  request.buffer_size = size;
  return request;
}
