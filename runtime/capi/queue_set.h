// SPDX-License-Identifier: MIT
/// @file
/// @brief The queue pairs of a context: their rings, tables and PRP pools, side
/// by side as a launch needs them, and until when they have to stay.
#pragma once

#include <vector>

#include "controllers.h"
#include "pages.h"
#include "sizes.h"

namespace xiokv::host {

class QueueSet {
public:
  QueueSet(const Controller &controller, const Sizes &sizes);
  QueueSet(const QueueSet &) = delete;
  QueueSet &operator=(const QueueSet &) = delete;

  /// @brief It leaks the memory of queues that were not closed: a controller
  /// may still write there.
  ~QueueSet();

  uint64_t address() const { return records_.address(); }
  uint64_t first_ring() const { return record(0).tables; }
  uint32_t size() const { return static_cast<uint32_t>(pairs_.size()); }

  /// @brief Refuse work where a queue is dead or gone.
  void check_alive() const;

  /// @brief Delete the queues; nothing runs on them. A Fault where one is not
  /// deleted; the others are, and a later call tries again.
  void close();

  /// @brief Take note that the controller has none of the queues any more.
  void confirm_deleted();

  /// @brief Counters of all queues.
  xiokv_queue_report report() const;

private:
  struct Pair {
    Pages sq, cq, tables, pool;
    uint32_t qid = 0;
    bool open = false;
  };

  xiokv_queue &record(size_t number) const {
    return records_.as<xiokv_queue>()[number];
  }

  void create(Pair &pair, xiokv_queue &queue);
  void forget(Pair &pair);
  void abandon();

  const Controller &controller_;
  const Sizes sizes_;
  Pages records_;
  std::vector<Pair> pairs_;
};

} // namespace xiokv::host
