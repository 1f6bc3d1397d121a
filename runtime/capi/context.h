// SPDX-License-Identifier: MIT
/// @file
/// @brief A module, queues on a controller, and batches in their order.
#pragma once

#include <deque>
#include <mutex>
#include <optional>

#include "batch.h"
#include "module.h"
#include "queue_set.h"
#include "stream.h"

namespace xiokv::host {

/// @brief Where a batch runs.
enum class Where { here, in_own_stream, in_stream };

class Context {
public:
  static constexpr const char *what = "context";
  static constexpr bool forks = false;

  /// @param owned What goes with the queues, or null.
  Context(std::shared_ptr<Module> module, const Controller &controller,
          const xiokv_attach_config &config, std::shared_ptr<void> owned);

  /// @brief Start a batch; where it is `here`, it has ended on return.
  /// @param stream For Where::in_stream.
  std::shared_ptr<Batch> submit(uint32_t opcode, const xiokv_request &request,
                                Where where,
                                const std::shared_ptr<Stream> &stream);

  /// @brief Fetch the List page that begins at a key.
  /// @param page Its memory, which is kept where the List timed out.
  void fetch_page(const xiokv_key &start, Pages &page);

  /// @brief Bytes of a List page.
  uint32_t page_size() const;

  xiokv_controller_limits limits() const;
  xiokv_queue_report report();
  void quiesce();
  void reset();
  void confirm_deleted();

  /// @brief Wait, delete the queues, and take no more work.
  void close();

private:
  Rules rules(uint32_t opcode) const;
  void check_open() const;
  void drain();
  std::shared_ptr<Launch> prepare(uint32_t opcode, Batch &batch,
                                  uint64_t timeout_ns);
  void start(const std::shared_ptr<Batch> &batch,
             const std::shared_ptr<Launch> &launch, Stream *stream);
  std::shared_ptr<Batch> run_list(const xiokv_key &start, const Pages &page);
  Stream &own_stream();

  const std::shared_ptr<Module> module_;
  const Controller controller_;
  const uint64_t timeout_ns_;
  xiokv_controller_limits limits_;
  Sizes sizes_;

  std::mutex mutex_; ///< Of all below.
  std::shared_ptr<void> owned_;
  std::unique_ptr<QueueSet> queues_;
  std::shared_ptr<Launch> last_;
  std::deque<std::shared_ptr<Batch>> running_;
  std::shared_ptr<Stream> stream_; ///< For batches without one.
  std::vector<Pages> kept_;        ///< List pages that may still be written.
  bool closed_ = false;
};

} // namespace xiokv::host
