// SPDX-License-Identifier: MIT
/// @file
/// @brief Runs the batch engine and the embedded controller under the workgroup
/// simulator, and checks every result and every byte.
#include "fiber_workgroups.h"
#include "program.h"

int main(int argc, char **argv) {
  FiberWorkgroups workgroups;
  return run_program(workgroups, argc, argv);
}
