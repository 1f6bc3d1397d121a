// SPDX-License-Identifier: MIT
/// @file
/// @brief Runs code objects of the batch engine against the embedded
/// controller, and checks every result and every byte.
///
///   PROGRAM CODE_OBJECT... -- ARGUMENTS
///
/// Kernels of a later code object take the place of those of an earlier one.
/// program.h says what the arguments are.
#include <stdio.h>
#include <string.h>

#include <exception>

#include "code_objects.h"
#include "program.h"

int main(int argc, char **argv) {
  CodeObjects workgroups;
  int at = 1;
  try {
    for (; at < argc && strcmp(argv[at], "--") != 0; ++at)
      workgroups.load(argv[at]);
  } catch (const std::exception &fault) {
    fprintf(stderr, "%s\n", fault.what());
    return 2;
  }
  return run_program(workgroups, argc - at, argv + at);
}
