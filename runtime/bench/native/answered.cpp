// SPDX-License-Identifier: MIT
/// @file
/// @brief The host's work alone: a queue whose completions are there before the
/// batch begins.

#include <time.h>

#include <cstdint>
#include <vector>

#include "xiokv/kv_abi.h"

namespace {

/// What a module or the client exports for a command.
using Kernel = void (*)(const xiokv_batch *, uint32_t);

/// Seconds that this thread has run: what others do on the machine is not in
/// them.
double thread_seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

struct alignas(16) Words {
  uint32_t word[4];
};

uint64_t address(const void *pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

constexpr uint32_t window = 1023;
constexpr uint32_t slot_bits = 10;
constexpr uint32_t sq_depth = 1024;
constexpr uint32_t cq_depth = 65536;

/// A queue whose controller has already answered.
///
/// Free CIDs are used in turn, so that the CID of every completion is known
/// before: that of the slot, one generation on with each round.
class AnsweredQueue {
public:
  explicit AnsweredQueue(uint32_t count)
      : sq_(4 * sq_depth), cq_(cq_depth), tables_(XIOKV_TABLE_BYTES(window)),
        keys_(count), results_(count) {
    uint16_t *free_ring = reinterpret_cast<uint16_t *>(tables_.data());
    for (uint32_t slot = 0; slot < window; ++slot)
      free_ring[slot] = static_cast<uint16_t>(slot);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t cid = i % window + (i / window << slot_bits);
      cq_[i].word[2] = queue_.qid << 16;
      cq_[i].word[3] = (cid & 0xffffu) | 1u << 16;
      keys_[i].word[0] = i;
    }
    point(count);
  }

  const xiokv_batch &batch() const { return batch_; }
  uint64_t completed() const { return queue_.report.completed; }

private:
  void point(uint32_t count) {
    queue_.sq = address(sq_.data());
    queue_.cq = address(cq_.data());
    queue_.sq_doorbell = address(&doorbells_[0]);
    queue_.cq_doorbell = address(&doorbells_[1]);
    queue_.tables = address(tables_.data());
    batch_.queues = address(&queue_);
    batch_.stop = address(&stop_);
    batch_.keys = address(keys_.data());
    batch_.results = address(results_.data());
    batch_.count = count;
  }

  std::vector<Words> sq_, cq_;
  std::vector<char> tables_;
  std::vector<Words> keys_;
  std::vector<xiokv_result> results_;
  uint32_t doorbells_[2] = {};
  Words stop_ = {};
  xiokv_queue queue_ = [] {
    xiokv_queue queue = {};
    queue.sq_depth = sq_depth;
    queue.cq_depth = cq_depth;
    queue.window = window;
    queue.qid = queue.nsid = queue.cq_phase = 1;
    queue.max_transfer = queue.max_value = XIOKV_PAGE_BYTES;
    return queue;
  }();
  xiokv_batch batch_ = [] {
    xiokv_batch batch = {};
    batch.queue_count = 1;
    batch.key_length = 16;
    batch.stride = batch.value_size = 64;
    batch.iova = XIOKV_PAGE_BYTES;
    batch.deadline = UINT64_C(5000000000);
    return batch;
  }();
};

} // namespace

/// @brief Run `count` commands, below 65536, that are answered already.
/// @param believed Where the number of completions goes that the engine
/// believed; the client counts none.
/// @return Seconds of this thread's own time.
extern "C" double bench_answered(Kernel kernel, uint32_t count,
                                 uint64_t *believed) {
  const AnsweredQueue queue(count);
  const double start = thread_seconds();
  kernel(&queue.batch(), 0);
  const double seconds = thread_seconds() - start;
  *believed = queue.completed();
  return seconds;
}
