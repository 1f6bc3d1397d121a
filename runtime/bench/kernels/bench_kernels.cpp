// SPDX-License-Identifier: MIT
/// @file
/// @brief The kernels that the engine is measured beside: a module of its own,
/// with the engine's arguments and launches.
#include "bench_each.h"
#include "bench_floor.h"
#include "bench_reference.h"

XIOKV_DEFINE_SPEC(
    "0000000000000000000000000000000000000000000000000000000000000000")

/// @brief Entries are defined as the engine's are; here a command is a shape.
template <class Shape>
XIOKV_DEVICE void xiokv_run_batch(const xiokv_batch &batch, uint32_t number) {
  Shape::run(batch, number);
}

using xiokv_op_reference = bench_reference;
using xiokv_op_lean_reference = bench_lean_reference;
using xiokv_op_each = bench_each;
using xiokv_op_ping_pong = bench_ping_pong;
using xiokv_op_gate = bench_gate;
using xiokv_op_nothing = bench_nothing;

XIOKV_DEFINE_KERNEL(reference)
XIOKV_DEFINE_KERNEL(lean_reference)
XIOKV_DEFINE_KERNEL(each)
XIOKV_DEFINE_KERNEL(ping_pong)
XIOKV_DEFINE_KERNEL(gate)
XIOKV_DEFINE_KERNEL(nothing)
