// SPDX-License-Identifier: MIT
/// @file
/// @brief The key-value commands: an SQE becomes a request to the store, and
/// the store's reply a completion.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "command.h"
#include "dma.h"
#include "prp.h"
#include "status.h"
#include "value_store.h"

namespace xiokv::emulator {

/// @brief What commands and their queues need of their controller.
struct Namespace {
  const Config &config;
  const Dma &dma;
  ValueStore &store;
  std::function<void(uint32_t qid)> wake; ///< Whoever serves that queue.
  std::atomic<bool> delete_missing_fails; ///< Feature 20h, bit 0.
};

/// @brief A command that is being carried out.
struct Command {
  Sqe sqe = {};
  Request request;
  std::vector<Segment> segments;      ///< The host's buffer.
  std::vector<uint8_t> page;          ///< List: what will be returned.
  std::unique_ptr<uint8_t[]> payload; ///< Exec: what the host sent.
  uint64_t payload_bytes = 0;
  uint64_t bytes_in = 0;  ///< Read from the host so far.
  uint64_t bytes_out = 0; ///< Written to the host so far.

  /// @brief Let go of all but the memory for segments.
  void clear() {
    request = {};
    segments.clear();
    page = {};
    payload.reset();
    payload_bytes = 0;
    bytes_in = bytes_out = 0;
  }
};

/// @brief Status and DW0 of a command that is over.
struct Outcome {
  Status status = Status::success;
  uint32_t dw0 = 0;
};

/// @brief Find the host's buffer of `bytes`.
Status map_buffer(Command &command, const Namespace &space, uint64_t bytes);

/// @brief Write to the host's buffer, as much as there is to write.
Status return_data(Command &command, const Namespace &space,
                   const uint8_t *data, uint64_t bytes);

/// @brief Check a command and make its request, reading a Store's value.
/// @return Anything but success: the command is over, no request is to be made.
Status begin(Command &command, const Namespace &space);

/// @brief Turn the store's reply into the outcome, writing what is returned.
Outcome finish(Command &command, const Reply &reply, const Namespace &space);

} // namespace xiokv::emulator
