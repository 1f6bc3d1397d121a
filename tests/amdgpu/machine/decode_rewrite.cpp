// SPDX-License-Identifier: MIT
/// @file
/// @brief What the modifiers of an instruction ask for beyond its handler.
#include "decoder.h"

namespace amdgpu {

namespace {

/// Whether an instruction works on halves of registers.
bool is_half(const std::string &name) {
  return name.compare(name.size() - 2, 2, "16") == 0 &&
         name.compare(0, 5, "v_pk_") != 0;
}

/// "[0,1,0]" as bits.
int64_t bits_of(const std::string &list) {
  int64_t bits = 0;
  unsigned place = 0;
  for (char c : list)
    if (c == '0' || c == '1')
      bits |= int64_t(c - '0') << place++;
  return bits;
}

int64_t bits_of(const Text &text, const char *modifier, int64_t otherwise) {
  const auto found = text.modifiers.find(modifier);
  return found == text.modifiers.end() ? otherwise : bits_of(found->second);
}

int64_t op_sel(const Text &text) { return bits_of(text, "op_sel", 0); }

/// For packed instructions: op_sel, then op_sel_hi.
int64_t both_op_sels(const Text &text) {
  return op_sel(text) | bits_of(text, "op_sel_hi", 7) << 4;
}

/// Modifiers whose meaning the machine does not have.
void refuse_modifiers(const Text &text) {
  for (const char *name :
       {"mul", "div", "neg_lo", "neg_hi", "lds", "tfe", "gds"})
    if (text.has(name))
      throw Unknown{};
}

Part part_or_unknown(const std::string &name) {
  const auto part = part_named(name);
  if (!part)
    throw Unknown{};
  return *part;
}

Rest rest_named(const std::string &name) {
  if (name == "UNUSED_PRESERVE")
    return Rest::kept;
  return name == "UNUSED_SEXT" ? Rest::sign : Rest::zero;
}

} // namespace

/// Parts of registers that the text names: SDWA, and op_sel of halves.
void Decoder::take_parts(const Text &text, unsigned sources) {
  for (unsigned n = 0; n < 2; ++n) {
    const auto found = text.modifiers.find("src" + std::to_string(n) + "_sel");
    if (found != text.modifiers.end())
      around_.change[n].part = part_or_unknown(found->second);
  }
  const auto target = text.modifiers.find("dst_sel");
  if (target != text.modifiers.end()) {
    around_.target = part_or_unknown(target->second);
    around_.rest = rest_named(text.modifiers.at("dst_unused"));
  }
  if (!is_half(plain_name(text.name)))
    return;
  const Part upper{16, 16};
  for (unsigned n = 0; n < sources; ++n)
    if (op_sel(text) >> n & 1)
      around_.change[n].part = upper;
  if (op_sel(text) >> sources & 1) {
    around_.target = upper;
    around_.rest = Rest::kept;
  }
}

/// Where the text asks for more than the handler does, puts it around it.
void Decoder::rewrite(Instruction &i, const Text &text) {
  refuse_modifiers(text);
  i.immediate = both_op_sels(text);
  i.keep_high = !is_cdna(family_);
  take_parts(text, sources_);
  if (has_movement(text)) {
    around_.movement = movement_of(text);
    if (!around_.movement)
      throw Unknown{};
  }
  bool needed = around_.movement || around_.target.bits < 32;
  for (const Change &change : around_.change)
    needed |= change.any();
  if (!needed)
    return;
  Instruction inner = i;
  for (unsigned n = 0; n < 3; ++n)
    if (around_.change[n].any() || (n == 0 && around_.movement)) {
      inner.source[n].kind = Operand::Kind::vector;
      inner.source[n].index = static_cast<uint16_t>(register_spare + 2 * n);
    }
  around_.inner = {std::move(inner)};
  i.rewrite = std::make_shared<Rewrite>(around_);
  i.run = run_rewritten;
}

} // namespace amdgpu
