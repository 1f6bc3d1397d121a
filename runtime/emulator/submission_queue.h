// SPDX-License-Identifier: MIT
/// @file
/// @brief A submission queue and its commands, from fetch to completion.
///
/// A command is fetched, waits if a fault delays it, runs (its request goes to
/// the store, the reply moves its data), and leaves a completion, which waits
/// for its turn and for room in the completion queue.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "completion_queue.h"
#include "tasks.h"

namespace xiokv::emulator {

/// @brief The structure; the plain name is a function's.
using Counters = struct ::xiokv_emu_counters;

/// @brief Used by one thread at a time.
class alignas(line_bytes) SubmissionQueue {
public:
  SubmissionQueue(uint16_t qid, Ring ring, uint32_t *tail_doorbell,
                  CompletionQueue &cq, const Namespace &space,
                  std::unique_ptr<Session> session, Trace &trace);

  CompletionQueue &cq() const { return cq_; }
  Faults &faults() { return faults_; }
  const Counters &counters() const { return counters_; }

  /// @brief Fetch and complete what there is, up to a bound.
  /// @return Whether anything was done.
  bool serve();

  /// @brief Do one thing, drawn among those possible.
  /// @return Whether there was one.
  bool step();

  /// @brief Go on with what faults hold back, and forget what they add.
  void clear_faults();

  void kill() { dead_ = true; }

private:
  struct Ended {
    Task *task;
    Outcome outcome;
  };
  struct Leaving {
    Completion completion;
    std::optional<uint64_t> duplicate_after;
  };
  using Clock = std::chrono::steady_clock;

  bool is_idle() const;

  // Time, in units of faults.
  bool is_timed() const;
  void let_time_pass();
  void wake();
  bool is_stalled() const { return now_ < stalled_until_; }

  // Fetch.
  bool can_fetch();
  bool fetch_entry(Sqe &sqe);
  void fetch();

  // Run.
  void run();
  void collect();
  void run_alone();
  void end(Task &task, Outcome outcome) { ended_.push_back({&task, outcome}); }
  void land();
  void leave(Task &task, Outcome outcome);
  Outcome null_outcome(const Sqe &sqe);
  uint16_t status_field(Status status) const;

  // Post; cq_.mutex is held.
  bool can_post();
  void post();
  void post_stepwise();
  Leaving take_leaving();
  bool post_all();
  bool serve_null();

  const uint16_t qid_;
  const Ring ring_;
  const uint32_t *const doorbell_;
  CompletionQueue &cq_;
  const Namespace &space_;
  Trace &trace_;
  Faults faults_;
  Random order_; ///< Of steps.
  Counters counters_ = {};

  uint32_t head_ = 0;
  uint32_t tail_ = 0;
  uint32_t doorbell_seen_ = 0;
  uint32_t null_size_ = 0;
  bool dead_ = false;
  bool held_ = false; ///< The next completion has found the CQ full.

  uint64_t now_ = 0;
  uint64_t stalled_until_ = 0;
  Clock::time_point last_ = Clock::now();

  Tasks tasks_;
  std::multimap<uint64_t, Task *> delayed_; ///< By the time they are due.
  std::deque<Task *> runnable_;
  uint64_t submitted_ = 0;   ///< Tasks that the store has.
  std::vector<Ended> ended_; ///< Their data may still be on its way.
  std::deque<Leaving> leaving_;
  std::multimap<uint64_t, Completion> late_; ///< By the time they are due.

  /// Last, so that it ends before the requests that it may hold.
  std::unique_ptr<Session> session_;
};

} // namespace xiokv::emulator
