/* SPDX-License-Identifier: MIT */
/** @file
 * @brief A program in C that makes every call; each argument names a part. */

#include "programs.h"

static void on_emulator(void) {
  struct xiokv_attach_config config;
  xiokv_emu *emu = make_emulator();
  uint32_t queues;
  memset(&config, 0, sizeof config);
  config.struct_size = sizeof config;
  for (queues = 1; queues <= 3; queues += 2) {
    struct xiokv_ctx *ctx;
    config.queues = queues;
    config.depth = queues == 1 ? 2 : 64;
    ctx = attach_emulator(emu, &config);
    run_calls(ctx);
    CHECK(xiokv_detach(ctx) == 0);
    xiokv_emu_reset(emu);
    ctx = attach_emulator(emu, &config);
    CHECK(xiokv_detach(ctx) == 0);
    xiokv_emu_destroy(emu);
    emu = make_emulator();
  }
  xiokv_emu_destroy(emu);
}

int main(int count, char **names) {
  int i;
  for (i = 1; i < count; i++) {
    if (strcmp(names[i], "calls") == 0)
      on_emulator();
    else if (strcmp(names[i], "refused") == 0)
      run_refused();
    else if (strcmp(names[i], "faults") == 0)
      run_faults();
    else if (strcmp(names[i], "handles") == 0)
      run_handles();
    else
      return 2;
    printf("%s\n", names[i]);
  }
  return 0;
}
