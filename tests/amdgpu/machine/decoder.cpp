// SPDX-License-Identifier: MIT
#include "decoder.h"

#include <stdexcept>

#include "error.h"

namespace amdgpu {

namespace {

void fail_unknown(Wave &, const Instruction &) {
  throw Fault("unknown instruction");
}

} // namespace

Instruction Decoder::decode(const Line &line, bool &known) {
  Instruction instruction;
  known = true;
  try {
    instruction = decode_text(line.text);
  } catch (const Unknown &) {
    known = false;
  } catch (const std::logic_error &) {
    known = false; // Too few operands, or no number where there must be one.
  }
  if (!known) {
    instruction = Instruction{};
    instruction.run = fail_unknown;
  }
  instruction.text = line.text;
  instruction.address = line.address;
  instruction.bytes = line.bytes;
  return instruction;
}

Instruction Decoder::decode_text(const std::string &text) {
  const size_t both = text.find(" :: ");
  if (both != std::string::npos)
    return decode_dual(text.substr(0, both), text.substr(both + 4));
  const Text parsed = parse_text(text);
  const char *clamp = parsed.has("clamp") ? " clamp" : "";
  const auto found = all_instructions().find(plain_name(parsed.name) + clamp);
  if (found == all_instructions().end())
    throw Unknown{};
  Instruction instruction;
  around_ = Rewrite{};
  instruction.run = found->second.run;
  instruction.memory = found->second.memory;
  decode_shape(instruction, found->second.shape, parsed);
  return instruction;
}

Instruction Decoder::decode_dual(const std::string &first,
                                 const std::string &second) {
  auto rewrite = std::make_shared<Rewrite>();
  rewrite->inner = {decode_text(first), decode_text(second)};
  Instruction instruction;
  instruction.run = run_dual;
  for (const Instruction &inner : rewrite->inner)
    instruction.touched.insert(instruction.touched.end(), inner.touched.begin(),
                               inner.touched.end());
  instruction.rewrite = std::move(rewrite);
  return instruction;
}

void Decoder::decode_shape(Instruction &i, Shape shape, const Text &text) {
  switch (shape) {
  case Shape::ignored:
    return;
  case Shape::wait:
    i.wait = wait_of(family_, text);
    return;
  case Shape::cache:
    return cache(i, text);
  case Shape::jump:
    i.immediate = std::stol(text.operands.at(0));
    return;
  case Shape::link:
    i.target = operand(i, text, 0);
    i.immediate = std::stol(text.operands.at(1));
    return;
  case Shape::hardware:
    return hardware(i, text);
  case Shape::message:
    if (text.operands.at(1) != "sendmsg(MSG_RTN_GET_REALTIME)")
      throw Unknown{};
    i.target = operand(i, text, 0);
    return;
  case Shape::memory:
    return memory(i, text);
  case Shape::buffer:
    return buffer(i, text);
  case Shape::shared:
    return shared(i, text);
  case Shape::scalar_load:
    return scalar_load(i, text);
  case Shape::sources:
    take(i, text, 0);
    break;
  case Shape::compare:
    compare(i, text);
    break;
  case Shape::conditional:
    conditional(i, text);
    break;
  case Shape::carry:
    i.target = operand(i, text, 0);
    i.target2 = operand(i, text, 1);
    take(i, text, 2);
    break;
  case Shape::accumulate:
    i.target = operand(i, text, 0);
    take(i, text, 1);
    i.source[text.operands.size() - 1] = i.target;
    break;
  case Shape::plain:
    i.target = operand(i, text, 0);
    take(i, text, 1);
    break;
  }
  rewrite(i, text);
}

/// The operands from one on, as sources.
void Decoder::take(Instruction &i, const Text &text, size_t first) {
  const size_t count = text.operands.size() - first;
  if (text.operands.size() < first || count > 4)
    throw Unknown{};
  sources_ = static_cast<unsigned>(count);
  for (size_t n = 0; n < count; ++n) {
    std::string word = text.operands[first + n];
    const Change change = take_change(word);
    if (change.any() && n > 2)
      throw Unknown{};
    if (n < 3)
      around_.change[n] = change;
    i.source[n] = operand(i, text, first + n);
  }
}

Operand Decoder::operand(Instruction &i, const Text &text, size_t index) {
  if (index >= text.operands.size())
    throw Unknown{};
  std::string word = text.operands[index];
  take_change(word);
  const auto found = operands_.parse(word, plain_name(text.name));
  if (!found)
    throw Unknown{};
  if (found->is(Operand::Kind::vector) || found->is(Operand::Kind::scalar))
    i.touched.push_back(
        {found->is(Operand::Kind::vector), found->index, found->words});
  return *found;
}

Operand Decoder::mask_register(uint16_t index) const {
  Operand mask;
  mask.kind = Operand::Kind::scalar;
  mask.index = index;
  mask.words = is_cdna(family_) ? 2 : 1;
  return mask;
}

/// v_cmpx writes exec: instead of a target, or as well as one.
void Decoder::compare(Instruction &i, const Text &text) {
  const bool to_exec = text.name.compare(0, 7, "v_cmpx_") == 0;
  if (to_exec && has_movement(text))
    throw Unknown{};
  if (to_exec)
    i.target2 = mask_register(register_exec);
  const size_t targets = text.operands.size() - 2;
  if (targets > 0)
    i.target = operand(i, text, 0);
  take(i, text, targets);
}

/// v_cndmask without a mask takes vcc.
void Decoder::conditional(Instruction &i, const Text &text) {
  i.target = operand(i, text, 0);
  take(i, text, 1);
  if (text.operands.size() == 3)
    i.source[2] = mask_register(register_vcc);
}

/// "hwreg(HW_REG_SHADER_CYCLES, 0, 20)": the mask of the bits that are read.
void Decoder::hardware(Instruction &i, const Text &text) {
  i.target = operand(i, text, 0);
  const bool cycles =
      text.operands.at(1).find("SHADER_CYCLES") != std::string::npos;
  i.immediate = cycles ? 0xfffff : 0;
}

} // namespace amdgpu
