// SPDX-License-Identifier: MIT
/// @file
/// @brief The command line of a program that runs the engine on some machine.
///
///   PROGRAM seeds FIRST COUNT   run the scenarios of these seeds
///   PROGRAM case NAME SEED      run one case
///
/// Exit status 0: all held, and what was seen is printed as one JSON object.
/// 1: what did not hold is printed, with its seed; the same seed shows it
/// again.
#pragma once

#include "workgroups.h"

int run_program(Workgroups &workgroups, int argc, char **argv);
