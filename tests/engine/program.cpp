// SPDX-License-Identifier: MIT
#include "program.h"

#include <stdio.h>
#include <stdlib.h>

#include <exception>

#include "cases.h"
#include "scenario.h"

namespace {
uint64_t number(const char *text) { return strtoull(text, nullptr, 10); }

/// Runs something that a seed decides; returns whether it held.
template <class Run> bool holds(uint64_t seed, const Run &run) {
  try {
    run();
    return true;
  } catch (const std::exception &fault) {
    printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
           fault.what());
    return false;
  }
}

int run_seeds(Workgroups &workgroups, uint64_t first, uint64_t count) {
  Tally tally;
  for (uint64_t seed = first; seed < first + count; ++seed)
    if (!holds(seed, [&] { Scenario(seed, workgroups, tally).run(); }))
      return 1;
  tally.print();
  return 0;
}

int run_case(Workgroups &workgroups, const std::string &name, uint64_t seed) {
  Tally tally;
  for (const Case &one : cases)
    if (one.name == name) {
      if (!holds(seed, [&] { one.run(workgroups, seed, tally); }))
        return 1;
      tally.print();
      return 0;
    }
  fprintf(stderr, "no case has the name \"%s\"\n", name.c_str());
  return 2;
}
} // namespace

int run_program(Workgroups &workgroups, int argc, char **argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "seeds" && argc == 4)
    return run_seeds(workgroups, number(argv[2]), number(argv[3]));
  if (what == "case" && argc == 4)
    return run_case(workgroups, argv[2], number(argv[3]));
  fprintf(stderr, "usage: %s seeds FIRST COUNT | case NAME SEED\n", argv[0]);
  return 2;
}
