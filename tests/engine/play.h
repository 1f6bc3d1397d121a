// SPDX-License-Identifier: MIT
/// @file
/// @brief Batches on queues of an embedded controller, and what has to hold
/// after each.
///
/// A play knows what may be stored under every key and which faults are in
/// force, so that it can tell whether a result and every byte of a buffer are
/// right. Its functions throw Broken where a claim does not hold.
#pragma once

#include <map>
#include <set>

#include "bench.h"
#include "tally.h"
#include "workgroups.h"

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
  uint64_t deadline; ///< In ticks, as what follows.
  uint64_t total;
  /// When the stop flag is set; `preset`: before the first tick; 0: never.
  uint64_t stop_at;
  /// When the clock leaps by twice the deadline, as if all had been stopped for
  /// so long; 0: never.
  uint64_t leap_at;

  static constexpr uint64_t preset = UINT64_MAX;
};

using Results = std::vector<xiokv_result>;

/// @brief A controller, queues on it, and the batches that they carry.
class Play {
public:
  static constexpr uint32_t value_max = 6u << 20;

  /// @param config Of the controller; the play fills in sizes, value_max and
  /// the seed.
  Play(Workgroups &workgroups, xiokv_emu_config config, uint64_t seed,
       Tally &tally);

  // What the batches to come are for, and on.
  std::vector<Bytes> keys;
  std::vector<xiokv_queue> queues;

  void create_queues(const std::vector<Shape> &shapes);

  /// @brief Put a fault in force; only its size is filled in.
  void add_fault(struct xiokv_emu_fault fault);

  /// @brief End all faults.
  void end_faults();

  /// @brief Give up all queues by a controller reset.
  void reset();

  /// @brief A request for all keys: values of these sizes, with bytes between
  /// them that nothing may touch.
  /// @param start Where in its first page the buffer starts.
  Request request(const std::string &command,
                  const std::vector<uint32_t> &sizes, uint32_t start,
                  bool scattered);

  /// @brief Run a batch that stores a value of its own for each key.
  Results store(Request &request);
  Results retrieve(Request &request);
  Results exist(Request &request);
  Results erase(Request &request);

  /// @brief Run a batch that lists from each key on.
  Results list(Request &request);

  /// @brief The keys that a List brought for key `i`.
  std::vector<Bytes> keys_on_page(const Request &request, size_t i) const;

  bool has_fault(uint32_t kind) const { return faults_.count(kind) != 0; }
  bool any_dead() const;
  xiokv_emu *emu() const { return bench_.emu(); }
  struct xiokv_emu_counters counters() const;

private:
  Results launch(Request &request);
  void drive(Request &request, const xiokv_batch &batch, xiokv_stop &stop);
  void check_after(const Request &request, const Results &results);

  uint32_t below(uint32_t bound) {
    return static_cast<uint32_t>(random_() % bound);
  }

  bool too_large(uint32_t size) const;
  void check_outcome(const Request &request, size_t i,
                     const xiokv_result &result) const;
  void check_value(const Request &request, size_t i,
                   const xiokv_result &result) const;
  void check_gaps(const Request &request) const;
  void check_trace();
  void check_queues(const Results &results);
  void check_mirrors() const;
  void check_doorbells() const;
  void check_nothing_ran(const Results &results, uint64_t fetched) const;

  Workgroups &workgroups_;
  uint64_t seed_;
  std::mt19937_64 random_;
  Tally &tally_;
  Bench bench_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<std::unique_ptr<xiokv_queue>> mirrors_;
  std::map<Bytes, Known> known_;
  std::set<uint32_t> faults_; ///< Kinds in force.
  std::set<uint32_t> drawn_;  ///< Kinds that were ever in force.
  std::map<uint32_t, std::set<uint32_t>> open_; ///< CIDs in flight by queue.
  uint32_t next_qid_ = 1;
  bool limited_ = false;  ///< The batch at hand has a stop or a total limit.
  bool was_dead_ = false; ///< A queue was dead before the batch at hand.
};
