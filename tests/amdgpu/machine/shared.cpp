// SPDX-License-Identifier: MIT
/// @file
/// @brief LDS instructions, ds_: loads, stores, atomics, and moves of values
/// among lanes that go through it.
#include "lanes.h"
#include "run.h"
#include "table.h"

namespace amdgpu {

namespace {

void shared(Wave &wave, const Instruction &i) {
  Access access(wave, i);
  for (unsigned lane = 0; lane < wave.width; ++lane)
    access.address[lane] = wave.v[i.source[0].index].lane[lane];
  wave.run->memory().access(access);
}

/// A lane takes the value of the one that it names, in bytes of a register.
void pull(Wave &wave, const Instruction &i) {
  const Lanes from = wave.v[i.source[1].index];
  const Lanes which = wave.v[i.source[0].index];
  const uint64_t exec = wave.exec();
  Lanes &to = wave.v[i.target.index];
  for (unsigned lane = 0; lane < wave.width; ++lane) {
    const uint32_t other =
        (which.lane[lane] + i.memory.offset[0]) / 4 % wave.width;
    if (exec >> lane & 1)
      to.lane[lane] = exec >> other & 1 ? from.lane[other] : 0;
  }
}

/// A lane gives its value to the one that it names; of several, the last wins.
void push(Wave &wave, const Instruction &i) {
  const Lanes from = wave.v[i.source[1].index];
  const Lanes which = wave.v[i.source[0].index];
  const uint64_t exec = wave.exec();
  Lanes result = {};
  for (unsigned lane = 0; lane < wave.width; ++lane)
    if (exec >> lane & 1)
      result.lane[(which.lane[lane] + i.memory.offset[0]) / 4 % wave.width] =
          from.lane[lane];
  Lanes &to = wave.v[i.target.index];
  for (unsigned lane = 0; lane < wave.width; ++lane)
    if (exec >> lane & 1)
      to.lane[lane] = result.lane[lane];
}

MemoryForm form_of(uint8_t bytes, bool store, uint8_t parts = 1) {
  MemoryForm form;
  form.space = Space::lds;
  form.bytes = bytes;
  form.store = store;
  form.returns = !store;
  form.parts = parts;
  return form;
}

void add(Table &table, const std::string &name, const MemoryForm &form) {
  table["ds_" + name] = {shared, Shape::shared, form};
}

void add_loads(Table &table) {
  const std::pair<const char *, MemoryForm> forms[] = {
      {"u8", form_of(1, false)},   {"i8", form_of(1, false)},
      {"u16", form_of(2, false)},  {"i16", form_of(2, false)},
      {"b32", form_of(4, false)},  {"b64", form_of(8, false)},
      {"b96", form_of(12, false)}, {"b128", form_of(16, false)},
  };
  for (auto [name, form] : forms) {
    form.is_signed = name[0] == 'i';
    add(table, std::string("read_") + name, form);
    add(table, std::string("load_") + name, form);
    if (form.bytes > 2)
      continue;
    form.keep_other = true;
    add(table, std::string("read_") + name + "_d16", form);
    add(table, std::string("load_") + name + "_d16", form);
    form.high_half = true;
    add(table, std::string("read_") + name + "_d16_hi", form);
    add(table, std::string("load_") + name + "_d16_hi", form);
  }
}

void add_stores(Table &table) {
  const std::pair<const char *, MemoryForm> forms[] = {
      {"b8", form_of(1, true)},   {"b16", form_of(2, true)},
      {"b32", form_of(4, true)},  {"b64", form_of(8, true)},
      {"b96", form_of(12, true)}, {"b128", form_of(16, true)},
  };
  for (auto [name, form] : forms) {
    add(table, std::string("write_") + name, form);
    add(table, std::string("store_") + name, form);
    if (form.bytes > 2)
      continue;
    form.high_half = true;
    add(table, std::string("write_") + name + "_d16_hi", form);
    add(table, std::string("store_") + name + "_d16_hi", form);
  }
}

/// Two places a lane, whose offsets count in units of the size, or 64 of them.
void add_pairs(Table &table) {
  for (const auto &[size, bytes] :
       {std::pair<const char *, uint8_t>{"b32", 4}, {"b64", 8}}) {
    const MemoryForm load = form_of(bytes, false, 2);
    const MemoryForm store = form_of(bytes, true, 2);
    add(table, std::string("read2_") + size, load);
    add(table, std::string("read2st64_") + size, load);
    add(table, std::string("load_2addr_") + size, load);
    add(table, std::string("load_2addr_stride64_") + size, load);
    add(table, std::string("write2_") + size, store);
    add(table, std::string("write2st64_") + size, store);
    add(table, std::string("store_2addr_") + size, store);
    add(table, std::string("store_2addr_stride64_") + size, store);
  }
}

struct Update {
  Atomic atomic;
  std::vector<const char *> names;
  const char *type;
  bool compare_first = false;
};

const Update updates[] = {
    {Atomic::add, {"add"}, "u"},
    {Atomic::sub, {"sub"}, "u"},
    {Atomic::reverse_sub, {"rsub"}, "u"},
    {Atomic::increment, {"inc"}, "u"},
    {Atomic::decrement, {"dec"}, "u"},
    {Atomic::min_signed, {"min"}, "i"},
    {Atomic::max_signed, {"max"}, "i"},
    {Atomic::min_unsigned, {"min"}, "u"},
    {Atomic::max_unsigned, {"max"}, "u"},
    {Atomic::and_, {"and"}, "b"},
    {Atomic::or_, {"or"}, "b"},
    {Atomic::xor_, {"xor"}, "b"},
    {Atomic::swap, {"wrxchg", "storexchg"}, "b"},
    {Atomic::compare_swap, {"cmpst"}, "b", true},
    {Atomic::compare_swap, {"cmpstore"}, "b"},
};

void add_updates(Table &table) {
  for (const Update &update : updates)
    for (const char *name : update.names)
      for (unsigned bits : {32u, 64u}) {
        MemoryForm form = form_of(static_cast<uint8_t>(bits / 8), false);
        form.atomic = update.atomic;
        form.compare_first = update.compare_first;
        const std::string type = update.type + std::to_string(bits);
        add(table, std::string(name) + "_rtn_" + type, form);
        form.returns = false;
        add(table, std::string(name) + "_" + type, form);
      }
}

} // namespace

void add_shared(Table &table) {
  add_loads(table);
  add_stores(table);
  add_pairs(table);
  add_updates(table);
  table["ds_bpermute_b32"] = {pull, Shape::shared, form_of(4, false)};
  table["ds_permute_b32"] = {push, Shape::shared, form_of(4, false)};
}

} // namespace amdgpu
