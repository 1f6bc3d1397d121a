// SPDX-License-Identifier: MIT
#include "operands.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

namespace amdgpu {

namespace {

Operand registers(Operand::Kind kind, unsigned long index,
                  unsigned long words) {
  Operand operand;
  operand.kind = kind;
  operand.index = static_cast<uint16_t>(index);
  operand.words = static_cast<uint8_t>(words);
  return operand;
}

struct Named {
  uint16_t index;
  uint8_t words;
};

const std::map<std::string, Named> named = {
    {"vcc", {register_vcc, 2}},
    {"vcc_lo", {register_vcc, 1}},
    {"vcc_hi", {register_vcc + 1, 1}},
    {"exec", {register_exec, 2}},
    {"exec_lo", {register_exec, 1}},
    {"exec_hi", {register_exec + 1, 1}},
    {"m0", {register_m0, 1}},
    {"flat_scratch", {register_flat_scratch, 2}},
    {"flat_scratch_lo", {register_flat_scratch, 1}},
    {"flat_scratch_hi", {register_flat_scratch + 1, 1}},
};

const std::map<std::string, uint64_t> apertures = {
    {"src_shared_base", lds_aperture},
    {"src_shared_limit", lds_aperture + aperture_bytes - 1},
    {"src_private_base", scratch_aperture},
    {"src_private_limit", scratch_aperture + aperture_bytes - 1},
};

struct File {
  const char *prefix;
  Operand::Kind kind;
  unsigned first;
  unsigned count;
};

const File files[] = {
    {"v", Operand::Kind::vector, 0, 256},
    {"a", Operand::Kind::vector, register_accumulation, 256},
    {"s", Operand::Kind::scalar, 0, register_vcc},
    {"ttmp", Operand::Kind::scalar, register_ttmp, 16},
};

/// "v7" or "v[6:7]", in one file of registers.
std::optional<Operand> in_file(const File &file, const std::string &text) {
  const size_t length = strlen(file.prefix);
  if (text.compare(0, length, file.prefix) != 0 || text.size() == length)
    return std::nullopt;
  const bool range = text[length] == '[';
  const char *at = text.c_str() + length + range;
  if (!isdigit(*at))
    return std::nullopt;
  char *end;
  const unsigned long first = strtoul(at, &end, 10);
  const unsigned long last =
      range && *end == ':' ? strtoul(end + 1, &end, 10) : first;
  if (strcmp(end, range ? "]" : "") != 0 || last < first || last >= file.count)
    return std::nullopt;
  return registers(file.kind, file.first + first, last - first + 1);
}

bool has_type(const std::string &name, const char *type) {
  return name.find(type) != std::string::npos;
}

uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// "0.5", one of few values that have a short form.
uint64_t floating(const std::string &text, const std::string &name) {
  const double value = strtod(text.c_str(), nullptr);
  return has_type(name, "64") ? bits_of(value)
                              : bits_of(static_cast<float>(value));
}

/// "0x1234": a dword, which types of 64 bits extend in their own ways.
uint64_t literal(const std::string &text, const std::string &name) {
  const uint64_t value = strtoull(text.c_str(), nullptr, 16);
  if (has_type(name, "_f64"))
    return value << 32;
  if (has_type(name, "_i64"))
    return static_cast<uint64_t>(static_cast<int32_t>(value));
  return value;
}

std::optional<uint64_t> number(const std::string &text,
                               const std::string &name) {
  const bool negative = text[0] == '-';
  const std::string digits = text.substr(negative);
  if (digits.empty() || !isdigit(digits[0]))
    return std::nullopt;
  if (digits.find('.') != std::string::npos && !has_type(name, "f16"))
    return floating(text, name);
  const bool hexadecimal = digits.compare(0, 2, "0x") == 0;
  if (hexadecimal) {
    const uint64_t value = literal(digits, name);
    return negative ? -value : value;
  }
  if (!std::all_of(digits.begin(), digits.end(), isdigit))
    return std::nullopt;
  return static_cast<uint64_t>(strtoll(text.c_str(), nullptr, 10));
}

} // namespace

std::optional<Operand> Operands::parse(const std::string &text,
                                       const std::string &name) {
  if (text == "null" || text == "off")
    return Operand{};
  const auto special = named.find(text);
  if (special != named.end())
    return registers(Operand::Kind::scalar, special->second.index,
                     special->second.words);
  const auto aperture = apertures.find(text);
  if (aperture != apertures.end())
    return constant(aperture->second);
  for (const File &file : files)
    if (const auto found = in_file(file, text))
      return found;
  if (const auto value = number(text, name))
    return constant(*value);
  return std::nullopt;
}

Operand Operands::constant(uint64_t value) {
  Operand &operand = known_[value];
  if (operand.lanes == nullptr) {
    operand.kind = Operand::Kind::constant;
    operand.value = value;
    lanes_.emplace_back();
    std::fill_n(lanes_.back()[0].lane, 64, static_cast<uint32_t>(value));
    std::fill_n(lanes_.back()[1].lane, 64, static_cast<uint32_t>(value >> 32));
    operand.lanes = lanes_.back().data();
  }
  return operand;
}

} // namespace amdgpu
