// SPDX-License-Identifier: MIT
/// @file
/// @brief Scalar instructions on floating-point numbers, which gfx1151 and
/// gfx12 have.
#include "floating.h"
#include "scalar.h"
#include "table.h"

namespace amdgpu {

namespace {

void add_comparisons(Table &table) {
  const std::pair<const char *, Handler> comparisons[] = {
      {"lt", scalar<less<float>>},
      {"eq", scalar<equal<float>>},
      {"le", scalar<at_most<float>>},
      {"gt", scalar<greater<float>>},
      {"lg", scalar<less_or_greater<float>>},
      {"ge", scalar<at_least<float>>},
      {"o", scalar<ordered<float>>},
      {"u", scalar<unordered<float>>},
      {"nge", scalar<not_at_least<float>>},
      {"ngt", scalar<not_greater<float>>},
      {"nle", scalar<not_at_most<float>>},
      {"neq", scalar<unequal<float>>},
      {"nlt", scalar<not_less<float>>},
  };
  for (const auto &[name, run] : comparisons)
    table[std::string("s_cmp_") + name + "_f32"] = {run, Shape::sources};
}

} // namespace

void add_scalar_float(Table &table) {
  table["s_cvt_f32_u32"] = {scalar<to_float>};
  table["s_cvt_f32_i32"] = {scalar<to_float_signed>};
  table["s_cvt_u32_f32"] = {scalar<truncated<u32, float>>};
  table["s_cvt_i32_f32"] = {scalar<truncated<i32, float>>};
  table["s_add_f32"] = {scalar<add<float>>};
  table["s_sub_f32"] = {scalar<sub<float>>};
  table["s_mul_f32"] = {scalar<product<float>>};
  table["s_fmac_f32"] = {scalar<fused<float>>, Shape::accumulate};
  table["s_fmamk_f32"] = {scalar<fused_middle>};
  table["s_fmaak_f32"] = {scalar<fused<float>>};
  table["s_trunc_f32"] = {scalar<whole<float>>};
  table["s_floor_f32"] = {scalar<floor_of<float>>};
  table["s_ceil_f32"] = {scalar<ceiling<float>>};
  table["s_rndne_f32"] = {scalar<nearest<float>>};
  for (const char *name : {"s_min_f32", "s_min_num_f32"})
    table[name] = {scalar<least<float>>};
  for (const char *name : {"s_max_f32", "s_max_num_f32"})
    table[name] = {scalar<greatest<float>>};
  table["v_s_rcp_f32"] = {scalar<reciprocal<float>>};
  table["v_s_sqrt_f32"] = {scalar<root<float>>};
  add_comparisons(table);
}

} // namespace amdgpu
