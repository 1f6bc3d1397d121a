// SPDX-License-Identifier: MIT
/// @file
/// @brief Runs the batch engine and the embedded controller under the workgroup
/// simulator, one scenario a seed, and checks every result and every byte.
///
///   explore FIRST COUNT    run seeds FIRST..FIRST+COUNT-1
///
/// Exit status 0: all held. 1: the first seed that did not is named with what
/// was seen; the same seed shows it again.
#include "fibers.h"
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s FIRST COUNT\n", argv[0]);
    return 2;
  }
  const uint64_t first = strtoull(argv[1], nullptr, 10);
  const uint64_t count = strtoull(argv[2], nullptr, 10);
  Tally tally;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    try {
      Scenario(seed).run(tally);
    } catch (const std::exception &fault) {
      printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
             fault.what());
      return 1;
    }
  }
  tally.print();
  return 0;
}
