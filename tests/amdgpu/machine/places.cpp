// SPDX-License-Identifier: MIT
#include "places.h"

#include <string.h>

#include <string>

#include "operands.h"
#include "run.h"

namespace amdgpu {

namespace {

/// What the CPU loads and stores as one.
typedef uint32_t Quad __attribute__((vector_size(16), may_alias));

uint8_t *within(std::vector<uint8_t> &memory, uint64_t start, uint64_t size,
                uint64_t offset, uint64_t bytes, const char *name) {
  if (offset > size || bytes > size - offset)
    throw Fault(std::string(name) + " offset " + std::to_string(offset) +
                " is out of bounds: there are " + std::to_string(size) +
                " bytes");
  return memory.data() + start + offset;
}

bool in_aperture(uint64_t address, uint64_t aperture) {
  return address >= aperture && address - aperture < aperture_bytes;
}

Place in_lds(const Access &access, uint64_t offset) {
  std::vector<uint8_t> &lds = access.wave.group->lds;
  return {Space::lds, within(lds, 0, lds.size(), offset & (aperture_bytes - 1),
                             access.form().bytes, "LDS")};
}

Place in_scratch(const Access &access, unsigned lane, uint64_t offset) {
  const uint32_t size = access.wave.lane_scratch;
  return {Space::scratch, within(access.wave.scratch, uint64_t(size) * lane,
                                 size, offset & (aperture_bytes - 1),
                                 access.form().bytes, "scratch")};
}

Place in_memory(const Access &access, uint64_t address) {
  const MemoryForm &form = access.form();
  if (form.atomic != Atomic::none && address % form.bytes != 0)
    throw Fault("bad address " + std::to_string(address) +
                ": an atomic must be aligned");
  return {Space::global, access.wave.run->reach().at(address, form.bytes)};
}

template <class T> T read(const uint8_t *bytes) {
  T value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

/// One load of the CPU, where the address allows.
template <class T> T load(const uint8_t *bytes) {
  if (reinterpret_cast<uint64_t>(bytes) % sizeof(T) != 0)
    return read<T>(bytes);
  return *reinterpret_cast<const volatile T *>(bytes);
}

template <class T> void store(uint8_t *bytes, T value) {
  if (reinterpret_cast<uint64_t>(bytes) % sizeof(T) != 0)
    memcpy(bytes, &value, sizeof value);
  else
    *reinterpret_cast<volatile T *>(bytes) = value;
}

void load_words(const Access &access, unsigned lane, unsigned first,
                const uint8_t *bytes) {
  switch (access.form().bytes) {
  case 1:
    return access.deliver(lane, first, load<uint8_t>(bytes));
  case 2:
    return access.deliver(lane, first, load<uint16_t>(bytes));
  case 8: {
    const auto both = load<uint64_t>(bytes);
    access.deliver(lane, first, static_cast<uint32_t>(both));
    return access.deliver(lane, first + 1, static_cast<uint32_t>(both >> 32));
  }
  case 16: {
    const Quad quad = load<Quad>(bytes);
    for (unsigned i = 0; i < 4; ++i)
      access.deliver(lane, first + i, quad[i]);
    return;
  }
  default:
    for (unsigned i = 0; i < access.words(); ++i)
      access.deliver(lane, first + i, load<uint32_t>(bytes + 4 * i));
  }
}

void store_words(const Access &access, unsigned lane, unsigned first,
                 uint8_t *bytes) {
  switch (access.form().bytes) {
  case 1:
    return store(bytes, static_cast<uint8_t>(access.data(lane, first)));
  case 2:
    return store(bytes, static_cast<uint16_t>(access.data(lane, first)));
  case 8:
    return store(bytes, access.data64(lane, first));
  case 16: {
    Quad quad;
    for (unsigned i = 0; i < 4; ++i)
      quad[i] = access.data(lane, first + i);
    return store(bytes, quad);
  }
  default:
    for (unsigned i = 0; i < access.words(); ++i)
      store(bytes + 4 * i, access.data(lane, first + i));
  }
}

template <class T>
T update(const Access &access, uint8_t *bytes, T first, T second) {
  const MemoryForm &form = access.form();
  const T value = form.compare_first ? second : first;
  const T compared = form.compare_first ? first : second;
  T *to = reinterpret_cast<T *>(bytes);
  T old = __atomic_load_n(to, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(
      to, &old, combine(form.atomic, old, value, compared), true,
      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
  return old;
}

void update_word(const Access &access, unsigned lane, uint8_t *bytes) {
  const bool compares = access.form().atomic == Atomic::compare_swap;
  const uint32_t old = update(access, bytes, access.data(lane, 0),
                              compares ? access.data(lane, 1) : 0);
  if (access.form().returns)
    access.deliver(lane, 0, old);
}

void update_pair(const Access &access, unsigned lane, uint8_t *bytes) {
  const bool compares = access.form().atomic == Atomic::compare_swap;
  const uint64_t old = update(access, bytes, access.data64(lane, 0),
                              compares ? access.data64(lane, 2) : 0);
  if (!access.form().returns)
    return;
  access.deliver(lane, 0, static_cast<uint32_t>(old));
  access.deliver(lane, 1, static_cast<uint32_t>(old >> 32));
}

} // namespace

Place resolve(const Access &access, unsigned lane, unsigned part) {
  const uint64_t address = access.place(lane, part);
  switch (access.form().space) {
  case Space::lds:
    return in_lds(access, address);
  case Space::scratch:
    return in_scratch(access, lane, address);
  case Space::flat:
    if (in_aperture(address, lds_aperture))
      return in_lds(access, address - lds_aperture);
    if (in_aperture(address, scratch_aperture))
      return in_scratch(access, lane, address - scratch_aperture);
    break;
  case Space::global:
    break;
  }
  return in_memory(access, address);
}

void transfer(const Access &access, unsigned lane, unsigned part,
              uint8_t *bytes) {
  const unsigned first = part * access.words();
  if (access.form().atomic == Atomic::none)
    return access.form().store ? store_words(access, lane, first, bytes)
                               : load_words(access, lane, first, bytes);
  if (access.form().bytes == 8)
    update_pair(access, lane, bytes);
  else
    update_word(access, lane, bytes);
}

} // namespace amdgpu
