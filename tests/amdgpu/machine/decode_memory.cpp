// SPDX-License-Identifier: MIT
/// @file
/// @brief The operands and modifiers of instructions that reach memory, and of
/// those that order it.
#include <stdlib.h>

#include "decoder.h"
#include "memory.h"

namespace amdgpu {

namespace {

/// What s_waitcnt calls its counters.
Counter counter_named(const std::string &name) {
  if (name == "vmcnt")
    return counter_load;
  return name == "lgkmcnt" ? counter_lds : counters;
}

/// "vmcnt(3)"; a counter that the machine does not have is never waited for.
void take_count(Wait &wait, const std::string &word) {
  const size_t open = word.find('(');
  if (open == std::string::npos)
    throw Unknown{};
  const Counter counter = counter_named(word.substr(0, open));
  if (counter != counters)
    wait[counter] =
        static_cast<uint8_t>(strtoul(word.c_str() + open + 1, nullptr, 10));
}

/// s_wait_<counter> and s_wait_<counter>_dscnt, whose number has two.
void take_named(Wait &wait, const std::string &name, unsigned long number) {
  const auto has = [&](const char *counter) {
    return name.find(counter) != std::string::npos;
  };
  const bool two = name.find("_dscnt") != std::string::npos &&
                   (has("_loadcnt") || has("_storecnt"));
  const auto first = static_cast<uint8_t>((two ? number >> 8 : number) & 63);
  if (has("_loadcnt"))
    wait[counter_load] = first;
  if (has("_storecnt") || has("_vscnt"))
    wait[counter_store] = first;
  if (has("_dscnt"))
    wait[counter_lds] = static_cast<uint8_t>(number & 63);
  if (has("_kmcnt"))
    wait[counter_scalar] = first;
}

bool is_load(const MemoryForm &form) {
  return form.atomic == Atomic::none && !form.store;
}

Scope cdna3_scope(const Text &text, const MemoryForm &form) {
  // Of an atomic, sc0 says that it returns what was there.
  if (form.atomic != Atomic::none)
    return text.has("sc1") ? Scope::system : Scope::device;
  if (text.has("sc1"))
    return text.has("sc0") ? Scope::system : Scope::device;
  return text.has("sc0") ? Scope::group : Scope::wave;
}

/// glc passes by both caches; dlc is about one behind them, which is coherent.
Scope rdna3_scope(const Text &text, const MemoryForm &form) {
  return !is_load(form) || text.has("glc") ? Scope::system : Scope::wave;
}

Scope rdna4_scope(const Text &text, const MemoryForm &form) {
  const auto found = text.modifiers.find("scope");
  const std::string scope =
      found == text.modifiers.end() ? "SCOPE_CU" : found->second;
  if (scope == "SCOPE_SYS")
    return Scope::system;
  if (scope == "SCOPE_DEV" || form.atomic != Atomic::none)
    return Scope::device;
  return scope == "SCOPE_SE" ? Scope::group : Scope::wave;
}

} // namespace

Scope scope_of(Family family, const Text &text, const MemoryForm &form) {
  switch (family) {
  case Family::cdna2:
    // Only loads can be told; stores and atomics look the same at any scope.
    if (form.atomic != Atomic::none || (is_load(form) && text.has("glc")))
      return Scope::system;
    return Scope::wave;
  case Family::cdna3:
    return cdna3_scope(text, form);
  case Family::rdna3:
    return rdna3_scope(text, form);
  case Family::rdna4:
    return rdna4_scope(text, form);
  }
  throw Unknown{};
}

Wait wait_of(Family family, const Text &text) {
  Wait wait = {no_wait, no_wait, no_wait, no_wait};
  if (text.name == "s_waitcnt") {
    for (const std::string &word : text.operands)
      take_count(wait, word);
    // What has no counter of its own is counted with another.
    if (is_cdna(family))
      wait[counter_store] = wait[counter_load];
    wait[counter_scalar] = wait[counter_lds];
    return wait;
  }
  if (text.name == "s_wait_idle")
    return {0, 0, 0, 0};
  take_named(wait, text.name,
             strtoul(text.operands.back().c_str(), nullptr, 0));
  return wait;
}

/// Which copies an invalidation forgets, and how far a write-back goes.
void Decoder::cache(Instruction &i, const Text &text) {
  Scope scope = Scope::system;
  if (text.name == "buffer_inv" || text.name == "buffer_wbl2")
    scope = family_ == Family::cdna2 ? Scope::system : cdna3_scope(text, {});
  else if (text.name.compare(0, 7, "global_") == 0)
    scope = rdna4_scope(text, {});
  const bool far_only =
      text.name == "buffer_invl2" || text.name == "buffer_gl1_inv";
  const bool near_only =
      text.name == "buffer_gl0_inv" || text.name == "buffer_wbinvl1_vol";
  i.memory.scope = scope;
  if (!far_only)
    i.immediate |= forget_near;
  if (scope == Scope::system && !near_only)
    i.immediate |= forget_far;
}

/// Loads and atomics that return: a target; an address; data, but for loads; a
/// scalar base, but for flat ones.
void Decoder::memory(Instruction &i, const Text &text) {
  MemoryForm &form = i.memory;
  const bool moves = form.atomic == Atomic::none;
  const size_t based = form.space == Space::flat ? 0 : 1;
  const size_t least = 1 + (form.store || !moves) + based;
  if (!moves)
    form.returns = text.operands.size() > least;
  size_t next = 0;
  if (form.returns)
    i.target = operand(i, text, next++);
  i.source[0] = operand(i, text, next++);
  if (form.store || !moves)
    i.source[1] = operand(i, text, next++);
  if (based)
    i.source[2] = operand(i, text, next++);
  if (next != text.operands.size() || text.has("lds"))
    throw Unknown{};
  form.offset[0] = static_cast<int32_t>(text.number("offset"));
  form.scope = scope_of(family_, text, form);
}

/// Data, an offset or `off`, the descriptor of scratch, a scalar.
void Decoder::buffer(Instruction &i, const Text &text) {
  const Operand data = operand(i, text, 0);
  (i.memory.store ? i.source[1] : i.target) = data;
  const Operand offset = operand(i, text, 1);
  i.source[0] = text.has("offen") ? offset : Operand{};
  i.source[2] = operand(i, text, 3);
  if (text.operands.size() != 4 || text.operands[2] != "s[0:3]" ||
      text.has("idxen"))
    throw Unknown{};
  i.memory.offset[0] = static_cast<int32_t>(text.number("offset"));
}

/// A target where there is one, an address, up to two data.
void Decoder::shared(Instruction &i, const Text &text) {
  MemoryForm &form = i.memory;
  size_t next = 0;
  if (form.returns)
    i.target = operand(i, text, next++);
  for (unsigned n = 0; next < text.operands.size() && n < 3; ++n)
    i.source[n] = operand(i, text, next++);
  if (next != text.operands.size() || text.has("gds"))
    throw Unknown{};
  if (form.parts == 1) {
    form.offset[0] = static_cast<int32_t>(text.number("offset"));
    return;
  }
  const bool far = text.name.find("st64") != std::string::npos ||
                   text.name.find("stride64") != std::string::npos;
  const int32_t unit = form.bytes * (far ? 64 : 1);
  form.offset[0] = static_cast<int32_t>(text.number("offset0")) * unit;
  form.offset[1] = static_cast<int32_t>(text.number("offset1")) * unit;
}

void Decoder::scalar_load(Instruction &i, const Text &text) {
  i.target = operand(i, text, 0);
  take(i, text, 1);
  i.memory.offset[0] = static_cast<int32_t>(text.number("offset"));
}

} // namespace amdgpu
