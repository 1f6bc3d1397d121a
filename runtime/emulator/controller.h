// SPDX-License-Identifier: MIT
/// @file
/// @brief The controller: its parts, and what concerns them all.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "admin.h"
#include "memory_store.h"
#include "workers.h"

namespace xiokv::emulator {

class Controller {
public:
  /// @param store Where values are; without one, in this process's memory.
  explicit Controller(const Config &config, ValueStore *store = nullptr);

  const Registers &registers() const { return registers_; }
  QueueTable &queues() { return queues_; }
  Trace &trace() { return trace_; }

  /// @brief Carry out an admin command.
  /// @return Whether there is a completion: none where CC.EN is 0.
  bool admin(const Sqe &sqe, uint8_t cqe[cqe_bytes]);

  bool start();
  void stop() { workers_.stop(); }
  bool step(uint32_t qid);
  void reset();

  /// @brief Set the DMA hook, unless queues exist.
  bool set_dma(const xiokv_emu_dma *hook);

  Counters counters() const;

private:
  void follow_enable_bit();
  void disable();
  void enable();
  bool serve(uint32_t worker);
  void wake(uint32_t qid);

  const Config config_;
  Registers registers_;
  Dma dma_;
  Trace trace_;
  std::unique_ptr<MemoryStore> memory_; ///< Unless a store was given.
  ValueStore &store_;
  std::vector<Bell> bells_; ///< Of each worker.
  Namespace space_;
  QueueTable queues_;
  Admin admin_;

  std::mutex mutex_; ///< Held by admin commands, resets and changes of CC.EN.
  std::atomic<bool> enabled_{true};

  /// Last, so that it ends first.
  Workers workers_;
};

} // namespace xiokv::emulator
