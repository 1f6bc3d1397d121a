// SPDX-License-Identifier: MIT
/// @file
/// @brief Vector instructions on floating-point numbers.
#include "floating.h"
#include "lanes.h"
#include "table.h"

namespace amdgpu {

namespace {

template <class T> void add_sums(Table &table, const std::string &type) {
  table["v_add_" + type] = {vector<add<T>>};
  table["v_sub_" + type] = {vector<sub<T>>};
  table["v_subrev_" + type] = {vector<reverse_sub<T>>};
  table["v_mul_" + type] = {vector<product<T>>};
  table["v_min_" + type] = {vector<least<T>>};
  table["v_max_" + type] = {vector<greatest<T>>};
  table["v_min_num_" + type] = {vector<least<T>>};
  table["v_max_num_" + type] = {vector<greatest<T>>};
  table["v_fma_" + type] = {vector<fused<T>>};
  table["v_fmac_" + type] = {vector<fused<T>>, Shape::accumulate};
  table["v_rcp_" + type] = {vector<reciprocal<T>>};
  table["v_sqrt_" + type] = {vector<root<T>>};
  table["v_trunc_" + type] = {vector<whole<T>>};
  table["v_floor_" + type] = {vector<floor_of<T>>};
  table["v_ceil_" + type] = {vector<ceiling<T>>};
  table["v_rndne_" + type] = {vector<nearest<T>>};
  table["v_ldexp_" + type] = {vector<scaled<T>>};
}

void add_conversions(Table &table) {
  table["v_cvt_f32_u32"] = {vector<to_float>};
  table["v_cvt_f32_i32"] = {vector<to_float_signed>};
  table["v_cvt_u32_f32"] = {vector<truncated<u32, float>>};
  table["v_cvt_i32_f32"] = {vector<truncated<i32, float>>};
  table["v_cvt_f64_u32"] = {vector<to_double>};
  table["v_cvt_f64_i32"] = {vector<to_double_signed>};
  table["v_cvt_u32_f64"] = {vector<truncated<u32, double>>};
  table["v_cvt_i32_f64"] = {vector<truncated<i32, double>>};
  table["v_cvt_f64_f32"] = {vector<widen>};
  table["v_cvt_f32_f64"] = {vector<narrow>};
}

} // namespace

void add_vector_float(Table &table) {
  add_sums<float>(table, "f32");
  add_sums<double>(table, "f64");
  add_conversions(table);
  table["v_rcp_iflag_f32"] = {vector<reciprocal<float>>};
  for (const char *name : {"v_fmamk_f32", "v_madmk_f32"})
    table[name] = {vector<fused_middle>};
  for (const char *name : {"v_fmaak_f32", "v_madak_f32"})
    table[name] = {vector<fused<float>>};
  table["v_mac_f32"] = {vector<fused<float>>, Shape::accumulate};
  table["v_mad_f32"] = {vector<fused<float>>};
}

} // namespace amdgpu
