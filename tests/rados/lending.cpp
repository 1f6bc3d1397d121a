// SPDX-License-Identifier: MIT
/// @file
/// @brief Memory of a host that messages are sent from, and that the host has
/// back: checked page by page, with bufferlists in the place of messages.
#include "lending.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>

namespace {

using xiokv::rados::Lending;
using xiokv::rados::Memory;
using Value = std::shared_ptr<const Memory>;

constexpr size_t page = 4096;
constexpr size_t value_bytes = 16 * page;

#define CHECK(condition) ((condition) ? void() : fail(#condition, __LINE__))

[[noreturn]] void fail(const char *what, int line) {
  std::fprintf(stderr, "line %d: not so: %s\n", line, what);
  std::exit(1);
}

uint8_t *mapped(size_t bytes, int flags, void *place = nullptr) {
  void *memory = mmap(place, bytes, PROT_READ | PROT_WRITE,
                      flags | MAP_ANONYMOUS | (place ? MAP_FIXED : 0), -1, 0);
  CHECK(memory != MAP_FAILED);
  return static_cast<uint8_t *>(memory);
}

/// What a connection holds of a value.
librados::bufferlist message_of(const Value &value) {
  librados::bufferlist message;
  message.append(*value, 0, value->length());
  return message;
}

bool is_all(const char *bytes, size_t size, char what) {
  for (size_t i = 0; i < size; ++i)
    if (bytes[i] != what)
      return false;
  return true;
}

bool is_all(const Value &value, char what) {
  return is_all(value->c_str(), value->length(), what);
}

struct Host {
  explicit Host(size_t bytes) : size(bytes), memory(mapped(bytes, MAP_SHARED)) {
    CHECK(lending.add(memory, size));
  }
  ~Host() {
    lending.remove(memory);
    munmap(memory, size);
  }
  void fill(char what) { std::memset(memory, what, size); }

  const size_t size;
  Lending lending;
  uint8_t *const memory;
};

void a_value_is_the_hosts_own_pages() {
  Host host(2 * value_bytes);
  const Value value = host.lending.lend(host.memory + 100, value_bytes);
  CHECK(value && value->length() == value_bytes);
  host.fill('a');
  CHECK(is_all(value, 'a'));
  CHECK(reinterpret_cast<const uint8_t *>(value->c_str()) != host.memory + 100);
}

void what_is_not_lent_is_not_taken() {
  Host host(2 * value_bytes);
  CHECK(!host.lending.lend(host.memory, value_bytes - 1));
  CHECK(!host.lending.lend(host.memory + 1, 2 * value_bytes));
  CHECK(host.lending.lend(host.memory, 2 * value_bytes));
  CHECK(!host.lending.lend(host.memory - 1, value_bytes));
  CHECK(!host.lending.lend(host.memory + 2 * value_bytes, value_bytes));
  CHECK(!host.lending.lend(nullptr, value_bytes));

  uint8_t *other = mapped(value_bytes, MAP_PRIVATE);
  CHECK(!host.lending.add(other, value_bytes));
  CHECK(!host.lending.lend(other, value_bytes));
  munmap(other, value_bytes);
  CHECK(!host.lending.add(other, value_bytes));
  CHECK(!host.lending.add(host.memory + 1, value_bytes));
  CHECK(!host.lending.add(host.memory, value_bytes - 1));
  CHECK(!host.lending.add(nullptr, value_bytes));
}

void a_message_keeps_what_the_host_changes_later() {
  Host host(4 * value_bytes);
  host.fill('a');
  Value value = host.lending.lend(host.memory + 100, value_bytes);
  librados::bufferlist message = message_of(value);
  host.lending.part(value);
  value.reset();
  host.fill('b');
  CHECK(is_all(message.c_str(), value_bytes, 'a'));

  // Its pages are not lent meanwhile, not even in part; others are.
  const size_t last = 100 + value_bytes - 1;
  CHECK(!host.lending.lend(host.memory + 100, value_bytes));
  CHECK(!host.lending.lend(host.memory + last, value_bytes));
  CHECK(is_all(
      host.lending.lend(host.memory + last / page * page + page, value_bytes),
      'b'));

  message.clear();
  CHECK(is_all(host.lending.lend(host.memory + 100, value_bytes), 'b'));
  CHECK(is_all(host.lending.lend(host.memory, 4 * value_bytes), 'b'));
}

void a_message_that_is_gone_costs_no_copy() {
  Host host(value_bytes);
  Value value = host.lending.lend(host.memory, value_bytes);
  message_of(value).clear();
  host.lending.part(value);
  host.fill('b');
  CHECK(is_all(value, 'b'));
}

/// Two commands of one value, and one beside it on the same page.
void values_that_share_pages_are_kept_apart_in_time() {
  Host host(4 * value_bytes);
  host.fill('a');
  Value first = host.lending.lend(host.memory + 8, value_bytes);
  Value second = host.lending.lend(host.memory + 8, value_bytes);
  Value beside = host.lending.lend(host.memory + 8 + value_bytes, value_bytes);
  librados::bufferlist of_first = message_of(first);
  librados::bufferlist of_second = message_of(second);
  librados::bufferlist of_beside = message_of(beside);

  host.lending.part(first);
  std::memset(host.memory, 'x', 8); // What no command has.
  host.lending.part(second);
  std::memset(host.memory + 8, 'b', value_bytes);
  CHECK(is_all(of_beside.c_str(), value_bytes, 'a'));
  host.lending.part(beside);
  host.fill('c');
  CHECK(is_all(of_first.c_str(), value_bytes, 'a'));
  CHECK(is_all(of_second.c_str(), value_bytes, 'a'));
  CHECK(is_all(of_beside.c_str(), value_bytes, 'a'));

  of_first.clear();
  CHECK(!host.lending.lend(host.memory, value_bytes));
  CHECK(is_all(of_second.c_str(), value_bytes, 'a'));
  of_second.clear();
  CHECK(is_all(host.lending.lend(host.memory, value_bytes), 'c'));
  CHECK(!host.lending.lend(host.memory + page, value_bytes));
  CHECK(is_all(of_beside.c_str(), value_bytes, 'a'));
  of_beside.clear();
  CHECK(is_all(host.lending.lend(host.memory, 4 * value_bytes), 'c'));
}

void a_message_outlives_the_hosts_memory() {
  librados::bufferlist message, late;
  Lending lending;
  uint8_t *memory = mapped(2 * value_bytes, MAP_PRIVATE); // Nobody else's.
  mapped(value_bytes, MAP_SHARED, memory);
  CHECK(lending.add(memory, value_bytes));
  std::memset(memory, 'a', value_bytes);
  Value value = lending.lend(memory, value_bytes);
  message = message_of(value);
  lending.part(value);
  value.reset();
  lending.remove(memory);
  mapped(value_bytes, MAP_PRIVATE, memory);
  CHECK(is_all(message.c_str(), value_bytes, 'a'));

  // Other memory in its place is other memory.
  mapped(value_bytes, MAP_SHARED, memory);
  CHECK(!lending.lend(memory, value_bytes));
  CHECK(lending.add(memory, value_bytes));
  std::memset(memory, 'b', value_bytes);
  value = lending.lend(memory, value_bytes);
  CHECK(is_all(value, 'b'));
  CHECK(is_all(message.c_str(), value_bytes, 'a'));

  // Also where nobody said that it went.
  mapped(2 * value_bytes, MAP_SHARED, memory);
  CHECK(lending.add(memory, 2 * value_bytes));
  std::memset(memory, 'c', 2 * value_bytes);
  CHECK(is_all(lending.lend(memory, value_bytes), 'c'));
  CHECK(is_all(value, 'b'));
  late = message_of(value);
  lending.part(value);
  value.reset();
  lending.remove(memory);
  munmap(memory, 2 * value_bytes);
  CHECK(is_all(late.c_str(), value_bytes, 'b'));
}

} // namespace

int main() {
  a_value_is_the_hosts_own_pages();
  what_is_not_lent_is_not_taken();
  a_message_keeps_what_the_host_changes_later();
  a_message_that_is_gone_costs_no_copy();
  values_that_share_pages_are_kept_apart_in_time();
  a_message_outlives_the_hosts_memory();
  std::puts("done");
}
