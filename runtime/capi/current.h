// SPDX-License-Identifier: MIT
/// @file
/// @brief What a thread retrieves by its current context, and did not take the
/// results of yet.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "batch.h"

namespace xiokv::host {

/// @brief Batches of one thread on one context, oldest first.
class Pending {
public:
  void add(std::shared_ptr<Batch> batch) { batches_.push_back(batch); }

  /// @brief Take the results of the next n keys; a Fault, and nothing is taken,
  /// where fewer are to come.
  /// @return How many of them are not OK.
  int take(xiokv_result *results, size_t n);

private:
  std::deque<std::shared_ptr<Batch>> batches_;
  size_t taken_ = 0; ///< Of the oldest batch.
};

/// @brief What a thread has.
struct Current {
  xiokv_ctx *ctx = nullptr;
  size_t block_bytes = 0;
  std::map<const xiokv_ctx *, Pending> pending;
};

/// @brief That of the calling thread.
Current &current();

} // namespace xiokv::host
