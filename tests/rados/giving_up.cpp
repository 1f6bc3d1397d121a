// SPDX-License-Identifier: MIT
/// @file
/// @brief Openings of a store that are ended and given up at any moment; made
/// for sanitisers.
///
/// Usage: giving_up CONF POOL ROUNDS. It ends while some are under way.
#include "xiokv_rados.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  xiokv_rados_config config = {};
  config.struct_size = sizeof config;
  config.timeout_ms = config.connect_timeout_ms = 4000;
  config.conf = argv[1];
  config.pool = argv[2];
  char why[256] = "";
  for (unsigned round = 0; round < unsigned(std::atoi(argv[3])); ++round) {
    xiokv_rados_opening *opening = xiokv_rados_begin(&config, why, sizeof why);
    if (!opening)
      return std::puts(why), 1;
    const bool over = xiokv_rados_wait(opening, 7 * (round % 8)) != 0;
    if (over && round % 2 == 0) {
      xiokv_emu_store *store = xiokv_rados_end(opening, why, sizeof why);
      if (!store)
        return std::puts(why), 1;
      xiokv_emu_store_close(store);
    } else {
      xiokv_rados_give_up(opening);
    }
  }
  std::puts("done");
  return 0;
}
