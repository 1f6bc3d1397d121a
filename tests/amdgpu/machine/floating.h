// SPDX-License-Identifier: MIT
/// @file
/// @brief What floating-point instructions compute, as functions of one lane:
/// as far as integer division and simple sums need it.
///
/// Reciprocals are exact, which the hardware's need not be.
#pragma once

#include <cmath>
#include <limits>

#include "arithmetic.h"

namespace amdgpu {

inline float to_float(u32 a) { return static_cast<float>(a); }
inline float to_float_signed(i32 a) { return static_cast<float>(a); }
inline double to_double(u32 a) { return a; }
inline double to_double_signed(i32 a) { return a; }
inline double widen(float a) { return static_cast<double>(a); }
inline float narrow(double a) { return static_cast<float>(a); }

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
inline float fused_middle(float a, float k, float b) {
  return std::fma(a, k, b);
}
template <class T> T product(T a, T b) { return a * b; }
template <class T> T least(T a, T b) { return std::fmin(a, b); }
template <class T> T greatest(T a, T b) { return std::fmax(a, b); }
template <class T> T scaled(T a, i32 by) { return std::ldexp(a, by); }

} // namespace amdgpu
