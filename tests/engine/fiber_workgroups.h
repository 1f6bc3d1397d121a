// SPDX-License-Identifier: MIT
/// @file
/// @brief The engine's source on the workgroup simulator, one fiber a lane.
#pragma once

#include "fibers.h"
#include "workgroups.h"

/// @brief Workgroups of the shape that SIMULATED_LANES, SIMULATED_WAVE and
/// SIMULATED_SHARED_WINDOW give at compile time.
class FiberWorkgroups : public Workgroups {
public:
  const Pace &pace() const override;
  uint32_t shared_window() const override;
  void run(const std::string &command, const xiokv_batch &batch, uint64_t seed,
           const std::function<void()> &outside) override;
  uint64_t now() const override { return world_ ? world_->now : ended_; }
  void leap(uint64_t ticks) override { world_->now += ticks; }

private:
  fibers::World *world_ = nullptr; ///< While a batch runs.
  uint64_t ended_ = 0;             ///< When the last one ended.
};
