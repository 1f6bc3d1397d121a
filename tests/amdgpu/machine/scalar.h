// SPDX-License-Identifier: MIT
/// @file
/// @brief Makes a scalar instruction's handler from a function.
///
/// The function's parameters say how the operands are read. A result of type
/// bool is the condition code; a Coded one has it beside the value.
#pragma once

#include <utility>

#include "wave.h"

namespace amdgpu {

/// @brief A result and the condition code.
template <class T> struct Coded {
  T value;
  bool code;
};

/// @brief What becomes of the condition code, where the function does not say.
enum class Code { kept, not_zero };

template <class T>
void finish_scalar(Wave &wave, const Instruction &i, Coded<T> result) {
  wave.set_scalar(i.target, result.value);
  wave.scc = result.code;
}

inline void finish_scalar(Wave &wave, const Instruction &, bool result) {
  wave.scc = result;
}

template <class T>
void finish_scalar(Wave &wave, const Instruction &i, T result) {
  wave.set_scalar(i.target, result);
}

template <Code code, auto function, class R, class... A, size_t... n>
void run_scalar(Wave &wave, const Instruction &i, R (*)(A...),
                std::index_sequence<n...>) {
  const R result = function(wave.scalar<A>(i.source[n])...);
  finish_scalar(wave, i, result);
  if constexpr (code == Code::not_zero)
    wave.scc = result != 0;
}

template <Code code, auto function, class R, class... A>
void call_scalar(Wave &wave, const Instruction &i, R (*pointer)(A...)) {
  run_scalar<code, function>(wave, i, pointer, std::index_sequence_for<A...>{});
}

/// @brief The handler that leaves the condition code, or sets it as the
/// function says.
template <auto function> void scalar(Wave &wave, const Instruction &i) {
  call_scalar<Code::kept, function>(wave, i, function);
}

/// @brief The handler whose condition code says that the result is not 0.
template <auto function> void coded(Wave &wave, const Instruction &i) {
  call_scalar<Code::not_zero, function>(wave, i, function);
}

} // namespace amdgpu
