// SPDX-License-Identifier: MIT
/// @file
/// @brief Memory of a host that messages are sent from, and that the host has
/// back: checked page by page, with bufferlists in the place of messages.
#include "lending.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using xiokv::rados::Lending;
using xiokv::rados::Memory;
using Value = std::shared_ptr<const Memory>;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool has_sanitiser = true;
#else
constexpr bool has_sanitiser = false;
#endif

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

/// Of shared memory in /proc/self/maps.
constexpr const char *shared = "/dev/zero";

/// Lines of /proc/self/maps with a word; an empty one is in each.
size_t mappings(const char *word) {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find(word) != std::string::npos ? 1 : 0;
  return count;
}

void what_no_message_holds_any_more_is_let_go() {
  Lending lending;
  Host host(value_bytes);
  uint8_t *memory = mapped(4 * value_bytes, MAP_SHARED);
  const size_t before = mappings(shared);
  CHECK(lending.add(memory, 4 * value_bytes));
  Value value = lending.lend(memory, value_bytes);
  librados::bufferlist message = message_of(value);
  lending.part(value);
  value.reset();
  lending.remove(memory);
  CHECK(mappings(shared) == before + 1);
  message.clear();
  CHECK(!lending.lend(host.memory, value_bytes));
  CHECK(mappings(shared) == before);
  munmap(memory, 4 * value_bytes);
}

void a_child_of_fork_has_the_hosts_memory_alone() {
  Host host(3 * value_bytes);
  Value value = host.lending.lend(host.memory, value_bytes);
  const librados::bufferlist message = message_of(value);
  host.lending.part(value);
  const uint8_t *copy = reinterpret_cast<const uint8_t *>(value->c_str());
  const pid_t child = fork();
  if (child == 0) {
    unsigned char in_memory = 0;
    const bool is_there =
        mincore(const_cast<uint8_t *>(copy), page, &in_memory) == 0;
    _exit(!is_there && mappings(shared) == 1 ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/// No address space beyond what the process has, while this is there.
struct Full {
  Full() {
    getrlimit(RLIMIT_AS, &before);
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit now = {pages * page, before.rlim_max};
    CHECK(setrlimit(RLIMIT_AS, &now) == 0);
    CHECK(mmap(nullptr, value_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
               0) == MAP_FAILED);
  }
  ~Full() { setrlimit(RLIMIT_AS, &before); }
  rlimit before;
};

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

/// Parts from a value while there is no room for a copy, and does something.
template <class Do> void part_where_there_is_no_room(Host &host, Do &&act) {
  Value value = host.lending.lend(host.memory, value_bytes);
  librados::bufferlist message = message_of(value);
  std::atomic<bool> is_there{false}, may_begin{false}, ended{false};
  std::thread worker([&] {
    rest();
    is_there = true;
    while (!may_begin)
      rest();
    host.lending.part(value);
    ended = true;
  });
  while (!is_there)
    rest();
  {
    const Full full;
    may_begin = true;
    for (int i = 0; i < 20; ++i)
      rest();
    CHECK(!ended);
    // Others go on meanwhile.
    CHECK(host.lending.lend(host.memory + value_bytes, value_bytes));
    act(message);
  }
  worker.join();
  host.fill('b');
  CHECK(is_all(message.c_str(), message.length(), 'a'));
}

void without_room_for_a_copy_a_command_ends_when_its_message_does() {
  Host host(2 * value_bytes);
  host.fill('a');
  part_where_there_is_no_room(host, [](auto &message) { message.clear(); });
  CHECK(is_all(host.lending.lend(host.memory, value_bytes), 'b'));
}

void without_room_for_a_copy_a_command_ends_when_there_is_some() {
  Host host(2 * value_bytes);
  host.fill('a');
  part_where_there_is_no_room(host, [](auto &) {});
}

void what_could_not_be_mapped_again_is_so_later() {
  Host host(value_bytes);
  host.fill('a');
  Value value = host.lending.lend(host.memory, value_bytes);
  librados::bufferlist message = message_of(value);
  host.lending.part(value);
  host.fill('b');
  {
    const Full full;
    message.clear();
    CHECK(!host.lending.lend(host.memory, value_bytes));
  }
  CHECK(is_all(host.lending.lend(host.memory, value_bytes), 'b'));
}

/// Each that is held splits the mapping, and a process has some 65000.
void of_many_values_so_many_are_lent_that_mappings_remain() {
  constexpr size_t stride = value_bytes + page;
  constexpr size_t most = 40000, used = 32000;
  Host host(most * stride);
  std::vector<Value> values;
  std::vector<librados::bufferlist> messages;
  for (size_t i = 0; i < most; ++i) {
    Value value = host.lending.lend(host.memory + i * stride, value_bytes);
    if (!value)
      break;
    messages.push_back(message_of(value));
    values.push_back(std::move(value));
  }
  CHECK(values.size() > 1000 && values.size() < most);
  const size_t before = mappings(shared);
  for (const Value &value : values)
    host.lending.part(value);
  CHECK(mappings(shared) > before && mappings("") < used);
  values.clear();
  messages.clear();
  CHECK(host.lending.lend(host.memory, most * stride));
  CHECK(mappings(shared) == before);
}

} // namespace

int main() {
  a_value_is_the_hosts_own_pages();
  what_is_not_lent_is_not_taken();
  a_message_keeps_what_the_host_changes_later();
  a_message_that_is_gone_costs_no_copy();
  values_that_share_pages_are_kept_apart_in_time();
  a_message_outlives_the_hosts_memory();
  what_no_message_holds_any_more_is_let_go();
  a_child_of_fork_has_the_hosts_memory_alone();
  // Sanitisers need room themselves, and end the process where there is none.
  if (!has_sanitiser) {
    without_room_for_a_copy_a_command_ends_when_its_message_does();
    without_room_for_a_copy_a_command_ends_when_there_is_some();
    what_could_not_be_mapped_again_is_so_later();
  }
  of_many_values_so_many_are_lent_that_mappings_remain();
  std::puts("done");
}
