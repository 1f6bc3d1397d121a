// SPDX-License-Identifier: MIT
/// @file
/// @brief Vector instructions on integers of 32 and 16 bits.
#include "arithmetic.h"
#include "lanes.h"
#include "table.h"

namespace amdgpu {

namespace {

// Carries in and out; a subtraction's carry is a borrow.
Carried add_carry(u32 a, u32 b) { return {a + b, a + b < a}; }
Carried sub_carry(u32 a, u32 b) { return {a - b, a < b}; }
Carried reverse_sub_carry(u32 a, u32 b) { return sub_carry(b, a); }
Carried add_with_carry(u32 a, u32 b, bool carry) {
  const u64 sum = static_cast<u64>(a) + b + carry;
  return {static_cast<u32>(sum), (sum >> 32 & 1) != 0};
}
Carried sub_with_carry(u32 a, u32 b, bool carry) {
  const u64 difference = static_cast<u64>(a) - b - carry;
  return {static_cast<u32>(difference), (difference >> 32 & 1) != 0};
}
Carried reverse_sub_with_carry(u32 a, u32 b, bool carry) {
  return sub_with_carry(b, a, carry);
}

u32 add_clamped(u32 a, u32 b) { return a + b < a ? ~0u : a + b; }
u32 sub_clamped(u32 a, u32 b) { return a < b ? 0 : a - b; }

u32 select(u32 a, u32 b, bool second) { return second ? b : a; }
u32 shift_right_signed(u32 by, i32 a) { return static_cast<u32>(shr(a, by)); }
u16 shift_right_signed16(u16 by, i16 a) { return static_cast<u16>(shr(a, by)); }
u16 shift_left16(u16 by, u16 a) { return shl(a, by); }
u16 shift_right16(u16 by, u16 a) { return shr(a, by); }
u16 min_signed16(i16 a, i16 b) { return static_cast<u16>(min_of(a, b)); }
u16 max_signed16(i16 a, i16 b) { return static_cast<u16>(max_of(a, b)); }

void add_carries(Table &table) {
  table["v_add_co_u32"] = {vector<add_carry>, Shape::carry};
  table["v_sub_co_u32"] = {vector<sub_carry>, Shape::carry};
  table["v_subrev_co_u32"] = {vector<reverse_sub_carry>, Shape::carry};
  for (const char *name : {"v_addc_co_u32", "v_add_co_ci_u32"})
    table[name] = {vector<add_with_carry>, Shape::carry};
  for (const char *name : {"v_subb_co_u32", "v_sub_co_ci_u32"})
    table[name] = {vector<sub_with_carry>, Shape::carry};
  for (const char *name : {"v_subbrev_co_u32", "v_subrev_co_ci_u32"})
    table[name] = {vector<reverse_sub_with_carry>, Shape::carry};
}

void add_sums(Table &table) {
  for (const char *name :
       {"v_add_u32", "v_add_nc_u32", "v_add_nc_i32", "v_add_i32"})
    table[name] = {vector<add<u32>>};
  for (const char *name :
       {"v_sub_u32", "v_sub_nc_u32", "v_sub_nc_i32", "v_sub_i32"})
    table[name] = {vector<sub<u32>>};
  for (const char *name : {"v_add_u32 clamp", "v_add_nc_u32 clamp"})
    table[name] = {vector<add_clamped>};
  for (const char *name : {"v_sub_u32 clamp", "v_sub_nc_u32 clamp"})
    table[name] = {vector<sub_clamped>};
  for (const char *name : {"v_subrev_u32", "v_subrev_nc_u32"})
    table[name] = {vector<reverse_sub<u32>>};
  table["v_add3_u32"] = {vector<add3>};
  table["v_xad_u32"] = {vector<xor_add>};
  table["v_sad_u32"] = {vector<sad>};
  table["v_bcnt_u32_b32"] = {vector<count_ones>};
  table["v_lshl_add_u32"] = {vector<shl_add>};
  table["v_add_lshl_u32"] = {vector<add_shl>};
  table["v_min_u32"] = {vector<min_of<u32>>};
  table["v_max_u32"] = {vector<max_of<u32>>};
  table["v_min_i32"] = {vector<min_of<i32>>};
  table["v_max_i32"] = {vector<max_of<i32>>};
  table["v_min3_u32"] = {vector<min3<u32>>};
  table["v_max3_u32"] = {vector<max3<u32>>};
  table["v_med3_u32"] = {vector<med3<u32>>};
  table["v_min3_i32"] = {vector<min3<i32>>};
  table["v_max3_i32"] = {vector<max3<i32>>};
  table["v_med3_i32"] = {vector<med3<i32>>};
}

void add_products(Table &table) {
  table["v_mul_lo_u32"] = {vector<mul<u32>>};
  table["v_mul_hi_u32"] = {vector<mul_high>};
  table["v_mul_hi_i32"] = {vector<mul_high_signed>};
  table["v_mul_u32_u24"] = {vector<mul24>};
  table["v_mul_i32_i24"] = {vector<mul24_signed>};
  table["v_mul_hi_u32_u24"] = {vector<mul_high24>};
  table["v_mul_hi_i32_i24"] = {vector<mul_high24_signed>};
  table["v_mad_u32_u24"] = {vector<mad24>};
  table["v_mad_i32_i24"] = {vector<mad24_signed>};
  table["v_mad_u32_u16"] = {vector<mad32_16>};
}

void add_bits(Table &table) {
  for (const char *name : {"v_mov_b32", "v_accvgpr_read_b32",
                           "v_accvgpr_write_b32", "v_accvgpr_mov_b32"})
    table[name] = {vector<move<u32>>};
  table["v_not_b32"] = {vector<not_<u32>>};
  table["v_and_b32"] = {vector<and_<u32>>};
  table["v_or_b32"] = {vector<or_<u32>>};
  table["v_xor_b32"] = {vector<xor_<u32>>};
  table["v_xnor_b32"] = {vector<xnor<u32>>};
  table["v_xor3_b32"] = {vector<xor3>};
  table["v_or3_b32"] = {vector<or3>};
  table["v_and_or_b32"] = {vector<and_or>};
  table["v_lshl_or_b32"] = {vector<shl_or>};
  table["v_lshlrev_b32"] = {vector<shl_reverse<u32>>};
  table["v_lshrrev_b32"] = {vector<shr_reverse<u32>>};
  table["v_ashrrev_i32"] = {vector<shift_right_signed>};
  table["v_bfe_u32"] = {vector<field>};
  table["v_bfe_i32"] = {vector<field_signed>};
  table["v_bfi_b32"] = {vector<insert>};
  table["v_bfm_b32"] = {vector<bit_mask>};
  table["v_bfrev_b32"] = {vector<reverse_bits>};
  table["v_alignbit_b32"] = {vector<align_bits>};
  table["v_alignbyte_b32"] = {vector<align_bytes>};
  table["v_perm_b32"] = {vector<permute_bytes>};
  table["v_cndmask_b32"] = {vector<select>, Shape::conditional};
  for (const char *name : {"v_ffbl_b32", "v_ctz_i32_b32"})
    table[name] = {vector<first_one>};
  for (const char *name : {"v_ffbh_u32", "v_clz_i32_u32"})
    table[name] = {vector<leading_zeros>};
  for (const char *name : {"v_ffbh_i32", "v_cls_i32"})
    table[name] = {vector<leading_signs>};
}

void add_halves(Table &table) {
  for (const char *name : {"v_add_u16", "v_add_nc_u16"})
    table[name] = {vector<add<u16>>};
  for (const char *name : {"v_sub_u16", "v_sub_nc_u16"})
    table[name] = {vector<sub<u16>>};
  table["v_subrev_u16"] = {vector<reverse_sub<u16>>};
  table["v_mul_lo_u16"] = {vector<mul<u16>>};
  for (const char *name : {"v_mad_u16", "v_mad_legacy_u16"})
    table[name] = {vector<mad16>};
  table["v_lshlrev_b16"] = {vector<shift_left16>};
  table["v_lshrrev_b16"] = {vector<shift_right16>};
  table["v_ashrrev_i16"] = {vector<shift_right_signed16>};
  table["v_min_u16"] = {vector<min_of<u16>>};
  table["v_max_u16"] = {vector<max_of<u16>>};
  table["v_min_i16"] = {vector<min_signed16>};
  table["v_max_i16"] = {vector<max_signed16>};
  table["v_and_b16"] = {vector<and_<u16>>};
  table["v_or_b16"] = {vector<or_<u16>>};
}

} // namespace

void add_vector_integer(Table &table) {
  add_carries(table);
  add_sums(table);
  add_products(table);
  add_bits(table);
  add_halves(table);
}

} // namespace amdgpu
