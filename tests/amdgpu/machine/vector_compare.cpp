// SPDX-License-Identifier: MIT
/// @file
/// @brief Comparisons: v_cmp writes a mask, v_cmpx those who take part.
#include <cmath>

#include "arithmetic.h"
#include "lanes.h"
#include "table.h"

namespace amdgpu {

namespace {

struct Comparison {
  const char *name;
  Handler run;
};

void add(Table &table, const Comparison &comparison, const std::string &type) {
  for (const char *prefix : {"v_cmp_", "v_cmpx_"})
    table[prefix + std::string(comparison.name) + "_" + type] = {
        comparison.run, Shape::compare};
}

template <class T> void add_integers(Table &table, const char *type) {
  for (const Comparison &comparison : {
           Comparison{"f", vector<never<T>>},
           {"lt", vector<less<T>>},
           {"eq", vector<equal<T>>},
           {"le", vector<at_most<T>>},
           {"gt", vector<greater<T>>},
           {"ne", vector<unequal<T>>},
           {"ge", vector<at_least<T>>},
           {"t", vector<always<T>>},
       })
    add(table, comparison, type);
}

template <class T> void add_floats(Table &table, const char *type) {
  for (const Comparison &comparison : {
           Comparison{"lt", vector<less<T>>},
           {"eq", vector<equal<T>>},
           {"le", vector<at_most<T>>},
           {"gt", vector<greater<T>>},
           {"lg", vector<less_or_greater<T>>},
           {"ge", vector<at_least<T>>},
           {"o", vector<ordered<T>>},
           {"u", vector<unordered<T>>},
           {"nge", vector<not_at_least<T>>},
           {"ngt", vector<not_greater<T>>},
           {"nle", vector<not_at_most<T>>},
           {"neq", vector<unequal<T>>},
           {"nlt", vector<not_less<T>>},
       })
    add(table, comparison, type);
}

/// Whether a number is of one of the kinds whose bits are set.
bool is_of_class(float value, u32 kinds) {
  const bool negative = std::signbit(value);
  switch (std::fpclassify(value)) {
  case FP_NAN:
    return kinds & 3;
  case FP_INFINITE:
    return kinds & (negative ? 1u << 2 : 1u << 9);
  case FP_NORMAL:
    return kinds & (negative ? 1u << 3 : 1u << 8);
  case FP_SUBNORMAL:
    return kinds & (negative ? 1u << 4 : 1u << 7);
  default:
    return kinds & (negative ? 1u << 5 : 1u << 6);
  }
}

} // namespace

void add_vector_compare(Table &table) {
  add_integers<u16>(table, "u16");
  add_integers<i16>(table, "i16");
  add_integers<u32>(table, "u32");
  add_integers<i32>(table, "i32");
  add_integers<u64>(table, "u64");
  add_integers<i64>(table, "i64");
  add_floats<float>(table, "f32");
  add_floats<double>(table, "f64");
  add(table, {"class", vector<is_of_class>}, "f32");
}

} // namespace amdgpu
