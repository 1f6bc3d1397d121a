// SPDX-License-Identifier: MIT
/// @file
/// @brief One random case: shapes, keys, faults, and what may come of each key.
#pragma once

#include <stdint.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "bench.h"

using Bytes = std::vector<char>;

/// @brief Name of an outcome, in lower case.
const char *outcome_name(uint8_t outcome);

/// @brief Bytes as hexadecimal digits.
std::string hex(const Bytes &bytes);

/// @brief Whether no byte was written since the buffer was made.
bool is_poison(const Bytes &bytes);

/// @brief How often each thing was seen, so that a test can tell that it was.
class Tally {
public:
  void add(const std::string &name, uint64_t count = 1) {
    counts_[name] += count;
  }
  void print() const; ///< As one JSON object.

private:
  std::map<std::string, uint64_t> counts_;
};

/// @brief What the store may hold for a key.
struct Known {
  std::set<Bytes> values;
  bool absent = true;
};

/// @brief One command for many keys, and where its values are.
struct Request {
  std::string command;
  std::vector<Bytes> keys;
  std::vector<uint32_t> sizes;
  std::vector<uint64_t> offsets;
  Buffer *buffer;
  uint64_t deadline;
  uint64_t total;
  /// Scheduler step at which the stop flag is set; `preset`: before the first;
  /// 0: never.
  uint64_t stop_at;
  /// Step at which the clock leaps by twice the deadline, as if all had been
  /// stopped for so long; 0: never.
  uint64_t leap_at;

  static constexpr uint64_t preset = UINT64_MAX;
};

/// @brief A case drawn from its seed.
class Scenario {
public:
  explicit Scenario(uint64_t seed);

  /// @brief Run it; throws Broken or fibers::Fault where a claim does not hold.
  void run(Tally &tally);

private:
  uint32_t below(uint32_t bound) {
    return static_cast<uint32_t>(random_() % bound);
  }
  bool chance(uint32_t one_in) { return below(one_in) == 0; }

  void draw_keys();
  void draw_faults();
  void add_fault(uint32_t kind, uint64_t amount, uint32_t parts_in_a_million);
  void create_queues();
  uint32_t draw_size();

  std::vector<xiokv_result> store(Tally &tally);
  void retrieve(Tally &tally, bool exact);
  void probe_or_delete(Tally &tally);
  void recover();

  Request request(const std::string &command, bool exact);
  std::vector<xiokv_result> launch(Request &request, Tally &tally);
  void check_outcome(const Request &request, size_t i,
                     const xiokv_result &result) const;
  void check_value(const Request &request, size_t i,
                   const xiokv_result &result) const;
  void check_trace();
  void check_queues(const std::vector<xiokv_result> &results);
  void check_mirrors() const;
  void check_doorbells() const;
  void check_nothing_ran(const std::vector<xiokv_result> &results,
                         uint64_t fetched) const;
  struct xiokv_emu_counters counters() const;
  bool any_dead() const;

  uint64_t seed_;
  std::mt19937_64 random_;
  xiokv_emu_config config_ = {};
  std::unique_ptr<Bench> bench_;
  std::vector<xiokv_queue> queues_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<Bytes> keys_;
  std::map<Bytes, Known> known_;
  std::set<uint32_t> faults_; ///< Kinds in force.
  std::set<uint32_t> drawn_;  ///< Kinds that were ever in force.
  std::map<uint32_t, std::set<uint32_t>> open_; ///< CIDs in flight by queue.
  uint32_t next_qid_ = 1;
  bool limited_ = false;  ///< The batch at hand has a stop or a total limit.
  bool was_dead_ = false; ///< A queue was dead before the batch at hand.
};
