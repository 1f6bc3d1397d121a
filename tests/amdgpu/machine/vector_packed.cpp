// SPDX-License-Identifier: MIT
/// @file
/// @brief Vector instructions on two integers of 16 bits in a register.
#include "arithmetic.h"
#include "lanes.h"
#include "table.h"

namespace amdgpu {

namespace {

u16 shift_left(u16 by, u16 a) { return shl(a, by); }
u16 shift_right(u16 by, u16 a) { return shr(a, by); }
u16 shift_right_signed(u16 by, u16 a) {
  return static_cast<u16>(shr(static_cast<i16>(a), by));
}
u16 min_signed(u16 a, u16 b) {
  return static_cast<u16>(min_of(static_cast<i16>(a), static_cast<i16>(b)));
}
u16 max_signed(u16 a, u16 b) {
  return static_cast<u16>(max_of(static_cast<i16>(a), static_cast<i16>(b)));
}
template <u16 (*function)(u16, u16)> u16 of_two(u16 a, u16 b, u16) {
  return function(a, b);
}

/// The half of a source that the bits of op_sel name.
u16 half(u32 word, int64_t bits, unsigned source) {
  return static_cast<u16>(bits >> source & 1 ? word >> 16 : word);
}

/// Halves of the sources, as op_sel says, make the low half of the target; as
/// op_sel_hi says, the high one.
template <u16 (*function)(u16, u16, u16)>
void packed(Wave &wave, const Instruction &i) {
  Spread room[3];
  const Source<u32> sources[] = {{wave, i.source[0], room[0]},
                                 {wave, i.source[1], room[1]},
                                 {wave, i.source[2], room[2]}};
  const View<u32> a = sources[0].from(0), b = sources[1].from(0),
                  c = sources[2].from(0);
  const auto part = [&](unsigned lane, int64_t bits) -> u32 {
    return function(half(a[lane], bits, 0), half(b[lane], bits, 1),
                    half(c[lane], bits, 2));
  };
  const uint64_t exec = wave.exec();
  Lanes &to = wave.v[i.target.index];
  for (unsigned lane = 0; lane < wave.width; ++lane)
    if (exec >> lane & 1)
      to.lane[lane] = part(lane, i.immediate) | part(lane, i.immediate >> 4)
                                                    << 16;
}

} // namespace

void add_vector_packed(Table &table) {
  table["v_pk_add_u16"] = {packed<of_two<add<u16>>>};
  table["v_pk_add_i16"] = {packed<of_two<add<u16>>>};
  table["v_pk_sub_u16"] = {packed<of_two<sub<u16>>>};
  table["v_pk_sub_i16"] = {packed<of_two<sub<u16>>>};
  table["v_pk_mul_lo_u16"] = {packed<of_two<mul<u16>>>};
  table["v_pk_mad_u16"] = {packed<mad16>};
  table["v_pk_mad_i16"] = {packed<mad16>};
  table["v_pk_min_u16"] = {packed<of_two<min_of<u16>>>};
  table["v_pk_max_u16"] = {packed<of_two<max_of<u16>>>};
  table["v_pk_min_i16"] = {packed<of_two<min_signed>>};
  table["v_pk_max_i16"] = {packed<of_two<max_signed>>};
  table["v_pk_lshlrev_b16"] = {packed<of_two<shift_left>>};
  table["v_pk_lshrrev_b16"] = {packed<of_two<shift_right>>};
  table["v_pk_ashrrev_i16"] = {packed<of_two<shift_right_signed>>};
}

} // namespace amdgpu
