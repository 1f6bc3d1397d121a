// SPDX-License-Identifier: MIT
/// @file
/// @brief Vector instructions that look at other lanes than their own, or move
/// values between vectors and scalars.
#include "arithmetic.h"
#include "lanes.h"
#include "table.h"

namespace amdgpu {

namespace {

u32 value_of(Wave &wave, const Operand &operand, unsigned lane) {
  return operand.is(Operand::Kind::vector) ? wave.v[operand.index].lane[lane]
                                           : wave.scalar<u32>(operand);
}

void read_first_lane(Wave &wave, const Instruction &i) {
  const uint64_t exec = wave.exec();
  const unsigned lane =
      exec == 0 ? 0 : static_cast<unsigned>(__builtin_ctzll(exec));
  wave.set_scalar(i.target, value_of(wave, i.source[0], lane));
}

void read_lane(Wave &wave, const Instruction &i) {
  const u32 lane = wave.scalar<u32>(i.source[1]) % wave.width;
  wave.set_scalar(i.target, value_of(wave, i.source[0], lane));
}

void write_lane(Wave &wave, const Instruction &i) {
  const u32 lane = wave.scalar<u32>(i.source[1]) % wave.width;
  wave.v[i.target.index].lane[lane] = wave.scalar<u32>(i.source[0]);
}

/// Ones of a mask at lanes below this one, of half a wave, and a sum.
template <unsigned first> void count_below(Wave &wave, const Instruction &i) {
  const uint64_t exec = wave.exec();
  for (unsigned lane = 0; lane < wave.width; ++lane) {
    const unsigned below = lane < first ? 0 : std::min(lane - first, 32u);
    const u64 mask = (u64(1) << below) - 1;
    const u32 counted = ones64(value_of(wave, i.source[0], lane) & mask);
    const u32 sum = counted + value_of(wave, i.source[1], lane);
    if (exec >> lane & 1)
      wave.v[i.target.index].lane[lane] = sum;
  }
}

void swap(Wave &wave, const Instruction &i) {
  Lanes &a = wave.v[i.target.index];
  Lanes &b = wave.v[i.source[0].index];
  const uint64_t exec = wave.exec();
  for (unsigned lane = 0; lane < wave.width; ++lane)
    if (exec >> lane & 1)
      std::swap(a.lane[lane], b.lane[lane]);
}

/// Lanes of a row of 16 take each other's values, of this row or the next.
template <unsigned other_row>
void permute_row(Wave &wave, const Instruction &i) {
  const Lanes from = wave.v[i.source[0].index];
  const u64 which = wave.scalar<u32>(i.source[1]) |
                    static_cast<u64>(wave.scalar<u32>(i.source[2])) << 32;
  const uint64_t exec = wave.exec();
  for (unsigned lane = 0; lane < wave.width; ++lane) {
    const unsigned row = (lane & ~15u) ^ other_row;
    const auto other =
        row + static_cast<unsigned>(which >> 4 * (lane % 16) & 15);
    if (exec >> lane & 1)
      wave.v[i.target.index].lane[lane] = from.lane[other];
  }
}

void exchange_halves(Wave &wave, const Instruction &i) {
  const Lanes from = wave.v[i.source[0].index];
  const uint64_t exec = wave.exec();
  for (unsigned lane = 0; lane < wave.width; ++lane)
    if (exec >> lane & 1)
      wave.v[i.target.index].lane[lane] = from.lane[lane ^ 32];
}

} // namespace

void add_vector_across(Table &table) {
  table["v_readfirstlane_b32"] = {read_first_lane};
  table["v_readlane_b32"] = {read_lane};
  table["v_writelane_b32"] = {write_lane};
  table["v_mbcnt_lo_u32_b32"] = {count_below<0>};
  table["v_mbcnt_hi_u32_b32"] = {count_below<32>};
  table["v_swap_b32"] = {swap};
  table["v_permlane16_b32"] = {permute_row<0>};
  table["v_permlanex16_b32"] = {permute_row<16>};
  table["v_permlane64_b32"] = {exchange_halves};
}

} // namespace amdgpu
