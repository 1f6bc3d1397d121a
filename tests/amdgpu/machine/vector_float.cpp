// SPDX-License-Identifier: MIT
/// @file
/// @brief Floating point, as far as integer division and simple sums need it.
/// Reciprocals are exact, which the hardware's need not be.
#include <cmath>
#include <limits>

#include "arithmetic.h"
#include "lanes.h"
#include "table.h"

namespace amdgpu {

namespace {

float to_float(u32 a) { return static_cast<float>(a); }
float to_float_signed(i32 a) { return static_cast<float>(a); }
double to_double(u32 a) { return a; }
double to_double_signed(i32 a) { return a; }
double widen(float a) { return static_cast<double>(a); }
float narrow(double a) { return static_cast<float>(a); }

/// Towards zero; beyond the range, its end; not a number: 0.
template <class To, class From> To truncated(From a) {
  constexpr auto low = static_cast<double>(std::numeric_limits<To>::min());
  constexpr auto high = static_cast<double>(std::numeric_limits<To>::max());
  const auto value = static_cast<double>(a);
  if (!(value > low))
    return value <= low ? std::numeric_limits<To>::min() : 0;
  return value >= high ? std::numeric_limits<To>::max()
                       : static_cast<To>(value);
}

template <class T> T reciprocal(T a) { return 1 / a; }
template <class T> T root(T a) { return std::sqrt(a); }
template <class T> T whole(T a) { return std::trunc(a); }
template <class T> T floor_of(T a) { return std::floor(a); }
template <class T> T ceiling(T a) { return std::ceil(a); }
template <class T> T nearest(T a) { return std::nearbyint(a); }
template <class T> T fused(T a, T b, T c) { return std::fma(a, b, c); }
/// The constant stands in the middle.
float fused_middle(float a, float k, float b) { return std::fma(a, k, b); }
template <class T> T product(T a, T b) { return a * b; }
template <class T> T smaller(T a, T b) { return std::fmin(a, b); }
template <class T> T larger(T a, T b) { return std::fmax(a, b); }
template <class T> T scaled(T a, i32 by) { return std::ldexp(a, by); }

template <class T> void add_sums(Table &table, const std::string &type) {
  table["v_add_" + type] = {vector<amdgpu::add<T>>};
  table["v_sub_" + type] = {vector<amdgpu::sub<T>>};
  table["v_subrev_" + type] = {vector<reverse_sub<T>>};
  table["v_mul_" + type] = {vector<product<T>>};
  table["v_min_" + type] = {vector<smaller<T>>};
  table["v_max_" + type] = {vector<larger<T>>};
  table["v_min_num_" + type] = {vector<smaller<T>>};
  table["v_max_num_" + type] = {vector<larger<T>>};
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
