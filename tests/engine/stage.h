// SPDX-License-Identifier: MIT
/// @file
/// @brief What cases are written with: a play with short names, and what is
/// expected of it. Each expectation throws Broken where it does not hold.
#pragma once

#include <algorithm>

#include "checks.h"
#include "play.h"

using Sizes = std::vector<uint32_t>;

inline void expect(const std::string &what, uint64_t seen, uint64_t expected) {
  if (seen != expected)
    throw Broken(what + ": " + std::to_string(seen) + ", expected " +
                 std::to_string(expected));
}

inline void expect_some(const std::string &what, uint64_t seen) {
  if (seen == 0)
    throw Broken(what + ": none");
}

inline size_t count(const Results &results, xiokv_outcome outcome) {
  return static_cast<size_t>(std::count_if(
      results.begin(), results.end(),
      [&](const xiokv_result &result) { return result.outcome == outcome; }));
}

inline void expect_all(const Results &results, xiokv_outcome outcome) {
  expect(std::string("keys that are ") + outcome_name(outcome),
         count(results, outcome), results.size());
}

/// Keys of lengths 1 to 16, none of them twice.
inline std::vector<Bytes> different_keys(size_t count) {
  std::vector<Bytes> keys;
  for (size_t i = 0; i < count; ++i) {
    Bytes key(i < 256 ? 1 + i % 16 : 4 + i % 13, '\0');
    memcpy(key.data(), &i, std::min<size_t>(key.size(), i < 256 ? 1 : 4));
    keys.push_back(key);
  }
  return keys;
}

inline Sizes sizes_below(size_t count, uint32_t bound) {
  Sizes sizes;
  for (size_t i = 0; i < count; ++i)
    sizes.push_back(static_cast<uint32_t>(i * 37 % bound));
  return sizes;
}

inline xiokv_emu_config strict(uint32_t flags) {
  xiokv_emu_config config = {};
  config.flags = XIOKV_EMU_STRICT | flags;
  return config;
}

/// A play with short names for what cases do.
struct Stage {
  Stage(Workgroups &machine, uint64_t seed, Tally &tally, size_t count,
        const std::vector<Shape> &shapes, uint32_t flags = 0)
      : machine(machine), play(machine, strict(flags), seed, tally) {
    play.create_queues(shapes);
    play.keys = different_keys(count);
  }

  Request ask(const char *command, const Sizes &sizes) {
    return play.request(command, sizes, 0, false);
  }
  Request ask(const char *command) {
    return ask(command, Sizes(play.keys.size(), 0));
  }
  void store_all(const Sizes &sizes) {
    Request request = ask("store", sizes);
    expect_all(play.store(request), XIOKV_OUTCOME_OK);
  }
  void retrieve_all(const Sizes &sizes) {
    Request request = ask("retrieve", sizes);
    const Results results = play.retrieve(request);
    expect_all(results, XIOKV_OUTCOME_OK);
    for (size_t i = 0; i < sizes.size(); ++i)
      expect("size of a value", results[i].value_size, sizes[i]);
  }
  void store_and_retrieve(const Sizes &sizes) {
    store_all(sizes);
    retrieve_all(sizes);
  }
  Results exist_all() {
    Request request = ask("exist");
    return play.exist(request);
  }

  void fault(uint32_t kind, uint64_t amount, uint64_t nth = 0,
             uint16_t status = 0) {
    struct xiokv_emu_fault fault = {};
    fault.kind = kind;
    fault.amount = amount;
    fault.nth = nth;
    fault.status = status;
    play.add_fault(fault);
  }

  const xiokv_queue_report &report() const { return play.queues[0].report; }

  Workgroups &machine;
  Play play;
};
