// SPDX-License-Identifier: MIT
/// @file
/// @brief Vector instructions on integers of 64 bits, and pairs.
#include "arithmetic.h"
#include "lanes.h"
#include "table.h"

namespace amdgpu {

namespace {

u64 shift_right_signed64(u32 by, i64 a) { return static_cast<u64>(shr(a, by)); }

Carried64 multiply_add(u32 a, u32 b, u64 c) {
  const u64 product = static_cast<u64>(a) * b;
  return {product + c, product + c < c};
}
Carried64 multiply_add_signed(i32 a, i32 b, u64 c) {
  const u64 product = static_cast<u64>(static_cast<i64>(a) * b);
  return {product + c, product + c < c};
}

u32 word_of(u64 pair, unsigned which) {
  return static_cast<u32>(pair >> 32 * which);
}
/// A dword of each pair; which, op_sel says.
template <unsigned low, unsigned high> u64 pack(u64 a, u64 b) {
  return word_of(a, low) | static_cast<u64>(word_of(b, high)) << 32;
}

void pack_move(Wave &wave, const Instruction &instruction) {
  constexpr Handler handlers[] = {vector<pack<0, 0>>, vector<pack<1, 0>>,
                                  vector<pack<0, 1>>, vector<pack<1, 1>>};
  handlers[instruction.immediate & 3](wave, instruction);
}

} // namespace

void add_vector_wide(Table &table) {
  table["v_lshlrev_b64"] = {vector<shl_reverse<u64>>};
  table["v_lshrrev_b64"] = {vector<shr_reverse<u64>>};
  table["v_ashrrev_i64"] = {vector<shift_right_signed64>};
  table["v_lshl_add_u64"] = {vector<shl_add64>};
  table["v_mov_b64"] = {vector<move<u64>>};
  table["v_pk_mov_b32"] = {pack_move};
  for (const char *name : {"v_mad_u64_u32", "v_mad_co_u64_u32"})
    table[name] = {vector<multiply_add>, Shape::carry};
  for (const char *name : {"v_mad_i64_i32", "v_mad_co_i64_i32"})
    table[name] = {vector<multiply_add_signed>, Shape::carry};
}

} // namespace amdgpu
