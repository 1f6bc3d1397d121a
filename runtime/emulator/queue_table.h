// SPDX-License-Identifier: MIT
/// @file
/// @brief All I/O queues: made, served and deleted by different threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "registers.h"
#include "submission_queue.h"

namespace xiokv::emulator {

/// @brief A submission queue's place in the table, and who may work on it.
///
/// Whoever serves the queue in a loop takes the lock again and again; a visitor
/// says that it waits, so that it gets its turn.
struct alignas(line_bytes) Slot {
  std::mutex mutex;
  std::atomic<uint32_t> visitors{0};
  std::unique_ptr<SubmissionQueue> queue;
};

class QueueTable {
public:
  QueueTable(const Config &config, const Registers &registers,
             const Namespace &space, Trace &trace);

  Status create_cq(uint32_t qid, Ring ring);
  Status create_sq(uint32_t qid, Ring ring, uint32_t cqid);
  Status delete_sq(uint32_t qid);
  Status delete_cq(uint32_t qid);

  /// @brief Delete all queues; queues to come are alive.
  void reset();

  /// @brief Serve queues from `first` on, every `step`th.
  /// @return Whether anything was done.
  bool serve(uint32_t first, uint32_t step);

  /// @brief Do one thing on a queue.
  bool step(uint32_t qid);

  /// @brief Complete what the last step of a queue left half posted.
  void end_steps();

  /// @brief Kill one queue, or for 0 all, and those to come.
  void kill(uint32_t qid);

  void add_fault(const Fault &fault);
  void clear_faults();

  bool empty() const;
  Counters counters() const;

private:
  template <class Visitor> void visit(uint32_t qid, Visitor visitor) const;
  template <class Visitor> void visit_all(Visitor visitor) const;
  bool number_is_free(uint32_t qid, bool taken) const;
  bool is_used(const CompletionQueue &cq) const;
  void retire(uint32_t qid);

  const Config &config_;
  const Registers &registers_;
  const Namespace &space_;
  Trace &trace_;

  /// Held by whoever changes the table, visits all of it or reads what follows;
  /// never while a queue is served.
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<CompletionQueue>> cqs_; ///< By QID.
  mutable std::vector<Slot> slots_;                   ///< By QID.
  std::vector<Fault> faults_;
  Counters retired_ = {}; ///< Of queues that are gone.
  bool killed_ = false;

  std::atomic<uint32_t> end_{1}; ///< All queues are below.
};

} // namespace xiokv::emulator
