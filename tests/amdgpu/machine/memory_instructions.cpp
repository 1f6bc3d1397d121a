// SPDX-License-Identifier: MIT
/// @file
/// @brief Loads, stores and atomics of vectors, and loads of scalars: their
/// names, and the addresses that they reach.
#include "lanes.h"
#include "run.h"
#include "table.h"

namespace amdgpu {

namespace {

/// Addresses of 64 bits from registers, or a scalar base and 32 bits.
void global(Wave &wave, const Instruction &i) {
  Access access(wave, i);
  const bool based = i.source[2].is(Operand::Kind::scalar);
  const uint64_t base = based ? wave.scalar<uint64_t>(i.source[2]) : 0;
  const uint32_t *low = wave.v[i.source[0].index].lane;
  const uint32_t *high = wave.v[i.source[0].index + 1].lane;
  for (unsigned lane = 0; lane < wave.width; ++lane)
    access.address[lane] =
        base + low[lane] +
        (based ? 0 : static_cast<uint64_t>(high[lane]) << 32);
  wave.run->memory().access(access);
}

/// Offsets into a lane's scratch: from a register, a scalar, both or none.
void private_memory(Wave &wave, const Instruction &i, uint32_t base) {
  Access access(wave, i);
  const bool indexed = i.source[0].is(Operand::Kind::vector);
  for (unsigned lane = 0; lane < wave.width; ++lane)
    access.address[lane] =
        base + (indexed ? wave.v[i.source[0].index].lane[lane] : 0);
  wave.run->memory().access(access);
}

void scratch(Wave &wave, const Instruction &i) {
  private_memory(wave, i, wave.scalar<uint32_t>(i.source[2]));
}

/// Where a descriptor stands for scratch, as on gfx90a, the scalar counts the
/// bytes of all lanes.
void buffer(Wave &wave, const Instruction &i) {
  private_memory(wave, i, wave.scalar<uint32_t>(i.source[2]) / wave.width);
}

void scalar_load(Wave &wave, const Instruction &i) {
  const auto base = wave.scalar<uint64_t>(i.source[0]);
  const auto offset = i.source[1].is(Operand::Kind::constant)
                          ? i.source[1].value
                          : wave.scalar<uint32_t>(i.source[1]);
  const auto more = static_cast<uint64_t>(int64_t(i.memory.offset[0]));
  wave.run->memory().scalar_load(wave, i,
                                 (base + offset + more) & ~uint64_t(3));
}

struct Size {
  std::vector<const char *> names;
  uint8_t bytes;
  bool is_signed = false;
  bool high_half = false;
  bool keep_other = false;
};

const Size loads[] = {
    {{"ubyte", "u8"}, 1},
    {{"sbyte", "i8"}, 1, true},
    {{"ushort", "u16"}, 2},
    {{"sshort", "i16"}, 2, true},
    {{"dword", "b32"}, 4},
    {{"dwordx2", "b64"}, 8},
    {{"dwordx3", "b96"}, 12},
    {{"dwordx4", "b128"}, 16},
    {{"ubyte_d16", "d16_u8"}, 1, false, false, true},
    {{"ubyte_d16_hi", "d16_hi_u8"}, 1, false, true, true},
    {{"sbyte_d16", "d16_i8"}, 1, true, false, true},
    {{"sbyte_d16_hi", "d16_hi_i8"}, 1, true, true, true},
    {{"short_d16", "d16_b16"}, 2, false, false, true},
    {{"short_d16_hi", "d16_hi_b16"}, 2, false, true, true},
};

const Size stores[] = {
    {{"byte", "b8"}, 1},
    {{"short", "b16"}, 2},
    {{"dword", "b32"}, 4},
    {{"dwordx2", "b64"}, 8},
    {{"dwordx3", "b96"}, 12},
    {{"dwordx4", "b128"}, 16},
    {{"byte_d16_hi", "d16_hi_b8"}, 1, false, true},
    {{"short_d16_hi", "d16_hi_b16"}, 2, false, true},
};

struct Update {
  Atomic atomic;
  /// Without a size; for the 64-bit ones "_x2" follows.
  const char *name;
  /// With one; null: the name has none.
  const char *word;
  const char *pair;
};

const Update updates[] = {
    {Atomic::add, "add", "add_u32", "add_u64"},
    {Atomic::sub, "sub", "sub_u32", "sub_u64"},
    {Atomic::and_, "and", "and_b32", "and_b64"},
    {Atomic::or_, "or", "or_b32", "or_b64"},
    {Atomic::xor_, "xor", "xor_b32", "xor_b64"},
    {Atomic::swap, "swap", "swap_b32", "swap_b64"},
    {Atomic::compare_swap, "cmpswap", "cmpswap_b32", "cmpswap_b64"},
    {Atomic::min_signed, "smin", "min_i32", "min_i64"},
    {Atomic::max_signed, "smax", "max_i32", "max_i64"},
    {Atomic::min_unsigned, "umin", "min_u32", "min_u64"},
    {Atomic::max_unsigned, "umax", "max_u32", "max_u64"},
    {Atomic::increment, "inc", "inc_u32", "inc_u64"},
    {Atomic::decrement, "dec", "dec_u32", "dec_u64"},
};

MemoryForm form_of(const Size &size, Space space, bool store) {
  MemoryForm form;
  form.space = space;
  form.store = store;
  form.returns = !store;
  form.bytes = size.bytes;
  form.is_signed = size.is_signed;
  form.high_half = size.high_half;
  form.keep_other = size.keep_other;
  return form;
}

void add_moves(Table &table, const std::string &prefix, Space space,
               Handler run, Shape shape = Shape::memory) {
  for (const Size &size : loads)
    for (const char *name : size.names)
      table[prefix + "load_" + name] = {run, shape,
                                        form_of(size, space, false)};
  for (const Size &size : stores)
    for (const char *name : size.names)
      table[prefix + "store_" + name] = {run, shape,
                                         form_of(size, space, true)};
}

void add_updates(Table &table, const std::string &prefix, Space space) {
  for (const Update &update : updates) {
    MemoryForm form;
    form.space = space;
    form.atomic = update.atomic;
    const std::string start = prefix + "atomic_";
    table[start + update.name] = {global, Shape::memory, form};
    table[start + update.word] = {global, Shape::memory, form};
    form.bytes = 8;
    table[start + update.name + "_x2"] = {global, Shape::memory, form};
    table[start + update.pair] = {global, Shape::memory, form};
  }
}

void add_scalar_loads(Table &table) {
  const std::pair<const char *, uint8_t> sizes[] = {
      {"dword", 4},     {"dwordx2", 8}, {"dwordx4", 16}, {"dwordx8", 32},
      {"dwordx16", 64}, {"b32", 4},     {"b64", 8},      {"b96", 12},
      {"b128", 16},     {"b256", 32},   {"b512", 64},
  };
  for (const auto &[name, bytes] : sizes) {
    MemoryForm form;
    form.returns = true;
    form.bytes = bytes;
    table[std::string("s_load_") + name] = {scalar_load, Shape::scalar_load,
                                            form};
  }
}

} // namespace

void add_memory(Table &table) {
  add_moves(table, "flat_", Space::flat, global);
  add_moves(table, "global_", Space::global, global);
  add_moves(table, "scratch_", Space::scratch, scratch);
  add_moves(table, "buffer_", Space::scratch, buffer, Shape::buffer);
  add_updates(table, "flat_", Space::flat);
  add_updates(table, "global_", Space::global);
  add_scalar_loads(table);
}

} // namespace amdgpu
