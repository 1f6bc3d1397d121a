// SPDX-License-Identifier: MIT
/// @file
/// @brief Reads what the text says of parts, signs and other lanes.
#include <stdlib.h>

#include <map>

#include "rewrite.h"

namespace amdgpu {

namespace {

using LaneMap = int (*)(unsigned lane, unsigned by);

int within_row(unsigned lane, int place) {
  return place < 0 || place > 15 ? -1 : static_cast<int>(lane & ~15u) + place;
}
int row_shl(unsigned lane, unsigned by) {
  return within_row(lane, static_cast<int>(lane % 16 + by));
}
int row_shr(unsigned lane, unsigned by) {
  return within_row(lane, static_cast<int>(lane % 16) - static_cast<int>(by));
}
int row_ror(unsigned lane, unsigned by) {
  return within_row(lane, static_cast<int>((lane - by) % 16));
}
int row_share(unsigned lane, unsigned by) {
  return within_row(lane, static_cast<int>(by));
}
int row_xmask(unsigned lane, unsigned by) {
  return within_row(lane, static_cast<int>(lane % 16 ^ by));
}
int row_mirror(unsigned lane, unsigned) { return static_cast<int>(lane ^ 15); }
int row_half_mirror(unsigned lane, unsigned) {
  return static_cast<int>(lane ^ 7);
}
/// The last lane of a row goes to all of the next one.
int row_bcast(unsigned lane, unsigned by) {
  return by == 15 ? static_cast<int>(lane & ~15u) - 1
                  : static_cast<int>(lane & ~31u) - 1;
}
int wave_shr(unsigned lane, unsigned by) {
  return static_cast<int>(lane) - static_cast<int>(by);
}
int wave_shl(unsigned lane, unsigned by) {
  return lane + by > 63 ? -1 : static_cast<int>(lane + by);
}

const std::map<std::string, LaneMap> maps = {
    {"row_shl", row_shl},        {"row_shr", row_shr},
    {"row_ror", row_ror},        {"row_share", row_share},
    {"row_newbcast", row_share}, {"row_xmask", row_xmask},
    {"row_mirror", row_mirror},  {"row_half_mirror", row_half_mirror},
    {"row_bcast", row_bcast},    {"wave_shr", wave_shr},
    {"wave_shl", wave_shl},
};

/// "[1,0,3,2]"
std::vector<unsigned> numbers(const std::string &list) {
  std::vector<unsigned> result;
  const char *at = list.c_str();
  while (*at == '[' || *at == ',') {
    char *end;
    result.push_back(static_cast<unsigned>(strtoul(at + 1, &end, 10)));
    at = end;
  }
  return result;
}

bool fill_from_list(const Text &text, const char *name, Movement &movement) {
  const auto found = text.modifiers.find(name);
  if (found == text.modifiers.end())
    return false;
  const std::vector<unsigned> list = numbers(found->second);
  for (unsigned lane = 0; lane < 64; ++lane)
    movement.from[lane] = static_cast<int8_t>(lane / list.size() * list.size() +
                                              list[lane % list.size()]);
  return true;
}

bool fill_from_map(const Text &text, Movement &movement) {
  for (const auto &[name, map] : maps) {
    if (!text.has(name))
      continue;
    const auto by = static_cast<unsigned>(text.number(name));
    for (unsigned lane = 0; lane < 64; ++lane)
      movement.from[lane] = static_cast<int8_t>(map(lane, by));
    return true;
  }
  return false;
}

/// Banks are the fours of lanes of a row.
uint64_t writable(long rows, long banks) {
  uint64_t lanes = 0;
  for (unsigned lane = 0; lane < 64; ++lane)
    if (rows >> lane / 16 & 1 && banks >> lane % 16 / 4 & 1)
      lanes |= uint64_t(1) << lane;
  return lanes;
}

bool strip(std::string &text, const std::string &before,
           const std::string &after) {
  if (text.size() < before.size() + after.size() ||
      text.compare(0, before.size(), before) != 0 ||
      text.compare(text.size() - after.size(), after.size(), after) != 0)
    return false;
  text = text.substr(before.size(), text.size() - before.size() - after.size());
  return true;
}

} // namespace

Change take_change(std::string &operand) {
  Change change;
  const bool number = operand.size() > 1 && operand[0] == '-' &&
                      isdigit(static_cast<unsigned char>(operand[1]));
  if (!number)
    change.negative = strip(operand, "-", "") || strip(operand, "neg(", ")");
  change.absolute = strip(operand, "|", "|") || strip(operand, "abs(", ")");
  change.sign_extended = strip(operand, "sext(", ")");
  return change;
}

std::optional<Part> part_named(const std::string &name) {
  if (name == "DWORD")
    return Part{};
  const unsigned index = static_cast<unsigned>(name.back() - '0');
  if (name.compare(0, 5, "BYTE_") == 0 && index < 4)
    return Part{static_cast<uint8_t>(8 * index), 8};
  if (name.compare(0, 5, "WORD_") == 0 && index < 2)
    return Part{static_cast<uint8_t>(16 * index), 16};
  return std::nullopt;
}

bool has_movement(const Text &text) {
  return text.name.find("_dpp") != std::string::npos;
}

std::optional<Movement> movement_of(const Text &text) {
  Movement movement;
  if (!fill_from_list(text, "quad_perm", movement) &&
      !fill_from_list(text, "dpp8", movement) && !fill_from_map(text, movement))
    return std::nullopt;
  movement.writes =
      writable(text.number("row_mask", 15), text.number("bank_mask", 15));
  movement.zero_for_none = text.has("bound_ctrl");
  return movement;
}

} // namespace amdgpu
