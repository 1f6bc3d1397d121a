/* Stores a value in a pool, as argv says, and retrieves it by another
 * controller. */
#include <stdio.h>
#include <string.h>

#include <xiokv.h>
#include <xiokv_rados.h>

enum { SIZE = 4096 };

/* A context on a controller of its own, whose values are in the store. */
static struct xiokv_ctx *attach(xiokv_emu_store *store, xiokv_emu **emu) {
  struct xiokv_emu_config config = {.struct_size = sizeof config};
  struct xiokv_controller controller;
  struct xiokv_module *module;
  struct xiokv_ctx *ctx;
  char why[200];
  *emu = xiokv_emu_create_on(&config, store, why, sizeof why);
  if (!*emu) {
    puts(why);
    return NULL;
  }
  if (xiokv_emu_start(*emu) || xiokv_emu_controller(*emu, &controller) ||
      xiokv_load(NULL, &module) ||
      xiokv_attach(module, &controller, NULL, &ctx)) {
    puts(xiokv_last_error());
    return NULL;
  }
  return ctx;
}

int main(int count, char **words) {
  static char value[SIZE], out[SIZE];
  struct xiokv_rados_config config = {.struct_size = sizeof config,
                                      .timeout_ms = 15000,
                                      .connect_timeout_ms = 15000};
  struct xiokv_key key = {.bytes = "from C", .length = 6};
  struct xiokv_request request = {.struct_size = sizeof request,
                                  .keys = &key,
                                  .count = 1,
                                  .buffer = value,
                                  .buffer_size = SIZE};
  char why[512];
  if (count != 4)
    return 2;
  config.conf = words[1];
  config.pool = words[2];
  config.name_space = words[3];
  xiokv_emu_store *store = xiokv_rados_open(&config, why, sizeof why);
  if (!store) {
    puts(why);
    return 1;
  }
  memset(value, 'c', SIZE);
  xiokv_emu *emu[2];
  struct xiokv_ctx *ctx[2] = {attach(store, &emu[0]), attach(store, &emu[1])};
  if (!ctx[0] || !ctx[1] || xiokv_store(ctx[0], &request, NULL) != 0)
    return puts(xiokv_last_error()), 1;
  request.buffer = out;
  if (xiokv_retrieve(ctx[1], &request, NULL) != 0)
    return puts(xiokv_last_error()), 1;
  puts(memcmp(value, out, SIZE) ? "different" : "the same");
  for (int i = 0; i < 2; i++) {
    xiokv_detach(ctx[i]);
    xiokv_emu_destroy(emu[i]);
  }
  xiokv_emu_store_close(store);
  return 0;
}
