// SPDX-License-Identifier: MIT
/// @file
/// @brief Scalar instructions that compute.
#include <type_traits>

#include "arithmetic.h"
#include "scalar.h"
#include "table.h"
#include "wave.h"

namespace amdgpu {

namespace {

using Word = Coded<u32>;

Word add_unsigned(u32 a, u32 b) { return {a + b, a + b < a}; }
Word sub_unsigned(u32 a, u32 b) { return {a - b, a < b}; }
Word add_signed(u32 a, u32 b) {
  const u32 sum = a + b;
  return {sum, ((a ^ sum) & (b ^ sum)) >> 31 != 0};
}
Word sub_signed(u32 a, u32 b) {
  const u32 difference = a - b;
  return {difference, ((a ^ b) & (a ^ difference)) >> 31 != 0};
}
template <class T> Word smaller(T a, T b) {
  return {static_cast<u32>(min_of(a, b)), a < b};
}
template <class T> Word larger(T a, T b) {
  return {static_cast<u32>(max_of(a, b)), a > b};
}
Word absolute(u32 a) {
  const u32 value = static_cast<i32>(a) < 0 ? 0 - a : a;
  return {value, value != 0};
}
Word distance_signed(i32 a, i32 b) {
  const u32 value =
      static_cast<u32>(max_of(a, b)) - static_cast<u32>(min_of(a, b));
  return {value, value != 0};
}
template <unsigned by> Word shift_add(u32 a, u32 b) {
  const u64 sum = shifted_sum<by>(a, b);
  return {static_cast<u32>(sum), sum >> 32 != 0};
}
u32 shift_right_signed(i32 a, u32 by) { return static_cast<u32>(shr(a, by)); }
u64 shift_right_signed64(i64 a, u32 by) { return static_cast<u64>(shr(a, by)); }
u32 set_bit(u32 bit, u32 old) { return old | 1u << (bit & 31); }
u32 clear_bit(u32 bit, u32 old) { return old & ~(1u << (bit & 31)); }
u64 set_bit64(u32 bit, u64 old) { return old | u64(1) << (bit & 63); }
u64 clear_bit64(u32 bit, u64 old) { return old & ~(u64(1) << (bit & 63)); }
bool bit_is_set(u32 a, u32 bit) { return a >> (bit & 31) & 1; }
bool bit_is_clear(u32 a, u32 bit) { return !bit_is_set(a, bit); }
bool bit_is_set64(u64 a, u32 bit) { return a >> (bit & 63) & 1; }
bool bit_is_clear64(u64 a, u32 bit) { return !bit_is_set64(a, bit); }

// The 16-bit constant of an instruction that has one, with its sign.
u32 extended(u32 constant) { return sign_extend16(constant); }
Word add_constant(u32 constant, u32 old) {
  return add_signed(old, extended(constant));
}
u32 mul_constant(u32 constant, u32 old) { return old * extended(constant); }
template <bool (*function)(i32, i32)> bool against_signed(i32 a, u32 constant) {
  return function(a, static_cast<i32>(extended(constant)));
}
template <bool (*function)(u32, u32)> bool against(u32 a, u32 constant) {
  return function(a, constant & 0xffff);
}

void add_carry(Wave &wave, const Instruction &i) {
  const u64 sum = static_cast<u64>(wave.scalar<u32>(i.source[0])) +
                  wave.scalar<u32>(i.source[1]) + wave.scc;
  finish_scalar(wave, i, Word{static_cast<u32>(sum), (sum >> 32 & 1) != 0});
}
void sub_borrow(Wave &wave, const Instruction &i) {
  const u64 difference = static_cast<u64>(wave.scalar<u32>(i.source[0])) -
                         wave.scalar<u32>(i.source[1]) - wave.scc;
  finish_scalar(
      wave, i, Word{static_cast<u32>(difference), (difference >> 32 & 1) != 0});
}
template <class T> void select(Wave &wave, const Instruction &i) {
  wave.set_scalar(i.target, wave.scalar<T>(i.source[wave.scc ? 0 : 1]));
}
template <class T> void conditional_move(Wave &wave, const Instruction &i) {
  if (wave.scc)
    wave.set_scalar(i.target, wave.scalar<T>(i.source[0]));
}
void conditional_constant(Wave &wave, const Instruction &i) {
  if (wave.scc)
    wave.set_scalar(i.target, extended(wave.scalar<u32>(i.source[0])));
}

/// s_<op>_saveexec: the old mask into the target, a new one into exec.
template <class T, T (*function)(T, T)>
void save_exec(Wave &wave, const Instruction &i) {
  Operand exec;
  exec.kind = Operand::Kind::scalar;
  exec.index = register_exec;
  const T old = wave.scalar<T>(exec);
  const T mask = function(wave.scalar<T>(i.source[0]), old);
  wave.set_scalar(i.target, old);
  wave.set_scalar(exec, mask);
  wave.scc = mask != 0;
}
/// s_<op>_wrexec: the new mask into both.
template <class T, T (*function)(T, T)>
void write_exec(Wave &wave, const Instruction &i) {
  save_exec<T, function>(wave, i);
  wave.set_scalar(i.target, static_cast<T>(wave.exec()));
}

template <class T> void add_logic(Table &table, const std::string &type) {
  table["s_and_" + type] = {coded<and_<T>>};
  table["s_or_" + type] = {coded<or_<T>>};
  table["s_xor_" + type] = {coded<xor_<T>>};
  table["s_nand_" + type] = {coded<nand<T>>};
  table["s_nor_" + type] = {coded<nor<T>>};
  table["s_xnor_" + type] = {coded<xnor<T>>};
  table["s_not_" + type] = {coded<not_<T>>};
  table["s_lshl_" + type] = {coded<shl<T>>};
  table["s_lshr_" + type] = {coded<shr<T>>};
  table["s_mov_" + type] = {scalar<move<T>>};
  table["s_cselect_" + type] = {select<T>};
  table["s_cmov_" + type] = {conditional_move<T>};
  for (const char *name : {"s_andn2_", "s_and_not1_"})
    table[name + type] = {coded<and_not<T>>};
  for (const char *name : {"s_orn2_", "s_or_not1_"})
    table[name + type] = {coded<or_not<T>>};
}

template <class T> void add_exec(Table &table, const std::string &type) {
  const auto add = [&](const std::string &name, Handler save, Handler write) {
    table["s_" + name + "_saveexec_" + type] = {save};
    if (write != nullptr)
      table["s_" + name + "_wrexec_" + type] = {write};
  };
  add("and", save_exec<T, and_<T>>, nullptr);
  add("or", save_exec<T, or_<T>>, nullptr);
  add("xor", save_exec<T, xor_<T>>, nullptr);
  add("nand", save_exec<T, nand<T>>, nullptr);
  add("nor", save_exec<T, nor<T>>, nullptr);
  add("xnor", save_exec<T, xnor<T>>, nullptr);
  for (const char *name : {"andn2", "and_not1"})
    add(name, save_exec<T, and_not<T>>, write_exec<T, and_not<T>>);
  for (const char *name : {"orn2", "or_not1"})
    add(name, save_exec<T, or_not<T>>, nullptr);
  for (const char *name : {"andn1", "and_not0"})
    add(name, save_exec<T, not_and<T>>, write_exec<T, not_and<T>>);
  for (const char *name : {"orn1", "or_not0"})
    add(name, save_exec<T, not_or<T>>, nullptr);
}

void add_sums(Table &table) {
  for (const char *name : {"s_add_u32", "s_add_co_u32"})
    table[name] = {scalar<add_unsigned>};
  for (const char *name : {"s_sub_u32", "s_sub_co_u32"})
    table[name] = {scalar<sub_unsigned>};
  for (const char *name : {"s_add_i32", "s_add_co_i32"})
    table[name] = {scalar<add_signed>};
  for (const char *name : {"s_sub_i32", "s_sub_co_i32"})
    table[name] = {scalar<sub_signed>};
  for (const char *name : {"s_addc_u32", "s_add_co_ci_u32"})
    table[name] = {add_carry};
  for (const char *name : {"s_subb_u32", "s_sub_co_ci_u32"})
    table[name] = {sub_borrow};
  for (const char *name : {"s_addk_i32", "s_addk_co_i32"})
    table[name] = {scalar<add_constant>, Shape::accumulate};
  for (const char *name : {"s_add_nc_u64", "s_add_u64"})
    table[name] = {scalar<amdgpu::add<u64>>};
  for (const char *name : {"s_sub_nc_u64", "s_sub_u64"})
    table[name] = {scalar<amdgpu::sub<u64>>};
  table["s_lshl1_add_u32"] = {scalar<shift_add<1>>};
  table["s_lshl2_add_u32"] = {scalar<shift_add<2>>};
  table["s_lshl3_add_u32"] = {scalar<shift_add<3>>};
  table["s_lshl4_add_u32"] = {scalar<shift_add<4>>};
  table["s_min_u32"] = {scalar<smaller<u32>>};
  table["s_max_u32"] = {scalar<larger<u32>>};
  table["s_min_i32"] = {scalar<smaller<i32>>};
  table["s_max_i32"] = {scalar<larger<i32>>};
  table["s_abs_i32"] = {scalar<absolute>};
  table["s_absdiff_i32"] = {scalar<distance_signed>};
}

void add_products(Table &table) {
  table["s_mul_i32"] = {scalar<mul<u32>>};
  table["s_mul_u64"] = {scalar<mul<u64>>};
  table["s_mul_hi_u32"] = {scalar<mul_high>};
  table["s_mul_hi_i32"] = {scalar<mul_high_signed>};
  table["s_mulk_i32"] = {scalar<mul_constant>, Shape::accumulate};
}

void add_shifts(Table &table) {
  table["s_ashr_i32"] = {coded<shift_right_signed>};
  table["s_ashr_i64"] = {coded<shift_right_signed64>};
  table["s_bfm_b32"] = {scalar<bit_mask>};
  table["s_bfm_b64"] = {scalar<bit_mask64>};
  table["s_bfe_u32"] = {coded<packed_field>};
  table["s_bfe_i32"] = {coded<packed_field_signed>};
  table["s_bfe_u64"] = {coded<packed_field64>};
  table["s_bfe_i64"] = {coded<packed_field64_signed>};
  table["s_pack_ll_b32_b16"] = {scalar<pack_low_low>};
  table["s_pack_lh_b32_b16"] = {scalar<pack_low_high>};
  table["s_pack_hh_b32_b16"] = {scalar<pack_high_high>};
  table["s_pack_hl_b32_b16"] = {scalar<pack_high_low>};
  table["s_sext_i32_i8"] = {scalar<sign_extend8>};
  table["s_sext_i32_i16"] = {scalar<sign_extend16>};
  table["s_movk_i32"] = {scalar<extended>};
  table["s_cmovk_i32"] = {conditional_constant};
}

void add_counts(Table &table) {
  table["s_brev_b32"] = {scalar<reverse_bits>};
  table["s_brev_b64"] = {scalar<reverse_bits64>};
  table["s_bcnt1_i32_b32"] = {coded<ones>};
  table["s_bcnt1_i32_b64"] = {coded<ones64>};
  table["s_bcnt0_i32_b32"] = {coded<zeros>};
  table["s_bcnt0_i32_b64"] = {coded<zeros64>};
  table["s_ff0_i32_b32"] = {scalar<first_zero>};
  table["s_ff0_i32_b64"] = {scalar<first_zero64>};
  for (const char *name : {"s_ff1_i32_b32", "s_ctz_i32_b32"})
    table[name] = {scalar<first_one>};
  for (const char *name : {"s_ff1_i32_b64", "s_ctz_i32_b64"})
    table[name] = {scalar<first_one64>};
  for (const char *name : {"s_flbit_i32_b32", "s_clz_i32_u32"})
    table[name] = {scalar<leading_zeros>};
  for (const char *name : {"s_flbit_i32_b64", "s_clz_i32_u64"})
    table[name] = {scalar<leading_zeros64>};
  for (const char *name : {"s_flbit_i32", "s_cls_i32"})
    table[name] = {scalar<leading_signs>};
  for (const char *name : {"s_flbit_i32_i64", "s_cls_i32_i64"})
    table[name] = {scalar<leading_signs64>};
  table["s_bitset0_b32"] = {scalar<clear_bit>, Shape::accumulate};
  table["s_bitset1_b32"] = {scalar<set_bit>, Shape::accumulate};
  table["s_bitset0_b64"] = {scalar<clear_bit64>, Shape::accumulate};
  table["s_bitset1_b64"] = {scalar<set_bit64>, Shape::accumulate};
}

template <class T, bool (*function)(T, T)>
void add_comparison(Table &table, const std::string &name) {
  table["s_cmp_" + name] = {scalar<function>, Shape::sources};
  if constexpr (std::is_same_v<T, i32>)
    table["s_cmpk_" + name] = {scalar<against_signed<function>>,
                               Shape::sources};
  else if constexpr (std::is_same_v<T, u32>)
    table["s_cmpk_" + name] = {scalar<against<function>>, Shape::sources};
}

template <class T> void add_comparisons(Table &table, const std::string &type) {
  add_comparison<T, equal<T>>(table, "eq_" + type);
  add_comparison<T, unequal<T>>(table, "lg_" + type);
  if constexpr (sizeof(T) == 4) {
    add_comparison<T, greater<T>>(table, "gt_" + type);
    add_comparison<T, at_least<T>>(table, "ge_" + type);
    add_comparison<T, less<T>>(table, "lt_" + type);
    add_comparison<T, at_most<T>>(table, "le_" + type);
  }
}

} // namespace

void add_scalar(Table &table) {
  add_logic<u32>(table, "b32");
  add_logic<u64>(table, "b64");
  add_exec<u32>(table, "b32");
  add_exec<u64>(table, "b64");
  add_sums(table);
  add_products(table);
  add_shifts(table);
  add_counts(table);
  add_comparisons<i32>(table, "i32");
  add_comparisons<u32>(table, "u32");
  add_comparisons<u64>(table, "u64");
  table["s_bitcmp0_b32"] = {scalar<bit_is_clear>, Shape::sources};
  table["s_bitcmp1_b32"] = {scalar<bit_is_set>, Shape::sources};
  table["s_bitcmp0_b64"] = {scalar<bit_is_clear64>, Shape::sources};
  table["s_bitcmp1_b64"] = {scalar<bit_is_set64>, Shape::sources};
}

} // namespace amdgpu
