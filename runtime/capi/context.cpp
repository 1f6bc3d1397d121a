// SPDX-License-Identifier: MIT
#include "context.h"

#include <algorithm>

#include "fault.h"

namespace xiokv::host {

namespace {

constexpr uint64_t timeout_usual = 5000000000;
constexpr uint32_t page_bytes_usual = 64 << 10;
// The longest keys have entries of 20 bytes, after the page's count.
constexpr uint32_t page_bytes_least = 44;
constexpr uint32_t chunk_max = 256;

} // namespace

Context::Context(std::shared_ptr<Module> module, const Controller &controller,
                 const xiokv_attach_config &config, std::shared_ptr<void> owned)
    : module_(std::move(module)), controller_(controller),
      timeout_ns_(config.timeout_ns != 0 ? config.timeout_ns : timeout_usual),
      limits_(controller_.limits(config.nsid != 0 ? config.nsid : 1)),
      sizes_(plan_sizes(config, limits_)), owned_(std::move(owned)),
      queues_(std::make_unique<QueueSet>(controller_, sizes_)) {}

std::shared_ptr<Batch> Context::submit(uint32_t opcode,
                                       const xiokv_request &request,
                                       Where where,
                                       const std::shared_ptr<Stream> &stream) {
  const auto batch =
      std::make_shared<Batch>(pack_request(opcode, request, rules(opcode)));
  std::shared_ptr<Launch> launch;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    check_open();
    if (batch->count() == 0)
      return batch;
    launch = prepare(opcode, *batch, request.timeout_ns);
    Stream *const in = where == Where::in_stream       ? stream.get()
                       : where == Where::in_own_stream ? &own_stream()
                                                       : nullptr;
    start(batch, launch, in);
  }
  if (where == Where::here)
    launch->run();
  return batch;
}

void Context::fetch_page(const xiokv_key &start, Pages &page) {
  const std::shared_ptr<Batch> batch = run_list(start, page);
  xiokv_result result;
  if (batch->take(&result, 0, 1) == 0)
    return;
  if (batch->timed_out()) {
    const std::lock_guard<std::mutex> lock(mutex_);
    kept_.push_back(std::move(page));
    refuse(XIOKV_E_DEAD_QUEUE,
           "List: no completion in time; xiokv_reset replaces the queue");
  }
  refuse(XIOKV_E_CONTROLLER, "List: the controller answers SCT %u, SC %02xh",
         result.status >> 8 & 7u, result.status & 0xffu);
}

std::shared_ptr<Batch> Context::run_list(const xiokv_key &start,
                                         const Pages &page) {
  const auto batch = std::make_shared<Batch>(
      pack_list(start, page.address(), page_size(), rules(XIOKV_OPC_LIST)));
  std::shared_ptr<Launch> launch;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    check_open();
    launch = prepare(XIOKV_OPC_LIST, *batch, 0);
    this->start(batch, launch, nullptr);
  }
  launch->run();
  return batch;
}

uint32_t Context::page_size() const {
  const uint32_t size = std::min(page_bytes_usual, sizes_.max_transfer);
  if (size < page_bytes_least)
    refuse(XIOKV_E_ARGUMENT,
           "max_transfer %u is less than a List page needs, %u bytes: attach "
           "with more",
           size, page_bytes_least);
  return size;
}

xiokv_controller_limits Context::limits() const {
  xiokv_controller_limits found = limits_;
  found.transfer_max = sizes_.max_transfer;
  return found;
}

xiokv_queue_report Context::report() {
  const std::lock_guard<std::mutex> lock(mutex_);
  drain();
  return queues_->report();
}

void Context::quiesce() {
  const std::lock_guard<std::mutex> lock(mutex_);
  drain();
}

void Context::reset() {
  const std::lock_guard<std::mutex> lock(mutex_);
  check_open();
  drain();
  queues_->close();
  kept_.clear();
  queues_ = std::make_unique<QueueSet>(controller_, sizes_);
}

void Context::confirm_deleted() {
  const std::lock_guard<std::mutex> lock(mutex_);
  drain();
  queues_->confirm_deleted();
  kept_.clear();
}

void Context::close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (closed_)
    return;
  drain();
  queues_->close();
  kept_.clear();
  owned_ = nullptr;
  if (stream_ != nullptr)
    stream_->close();
  closed_ = true;
}

Rules Context::rules(uint32_t opcode) const {
  return {limits_.key_max, limits_.value_max, sizes_.max_transfer,
          module_->fields(opcode)};
}

void Context::check_open() const {
  if (closed_)
    refuse(XIOKV_E_HANDLE, "this context was detached; attach again");
}

void Context::drain() {
  for (const std::shared_ptr<Batch> &batch : running_)
    batch->wait_out();
  running_.clear();
}

std::shared_ptr<Launch> Context::prepare(uint32_t opcode, Batch &batch,
                                         uint64_t timeout_ns) {
  while (!running_.empty() && running_.front()->ended())
    running_.pop_front();
  // While a batch runs, its queues are the engine's, which lets dead ones out
  // of what follows.
  if (running_.empty())
    queues_->check_alive();
  const uint32_t queues = queues_->size();
  xiokv_batch described = batch.describe(module_->fields(opcode));
  described.queues = queues_->address();
  described.first_ring = queues_->first_ring();
  described.queue_count = queues;
  described.deadline =
      std::min<uint64_t>(timeout_ns != 0 ? timeout_ns : timeout_ns_, INT64_MAX);
  // Several chunks for each queue where there are keys enough.
  described.chunk =
      std::min(chunk_max, (described.count + queues - 1) / queues);
  return std::make_shared<Launch>(module_->kernel(opcode), &described,
                                  sizeof described, queues, last_);
}

/// Note a launch, and give it to a stream, if any.
void Context::start(const std::shared_ptr<Batch> &batch,
                    const std::shared_ptr<Launch> &launch, Stream *stream) {
  batch->run_by(launch);
  running_.push_back(batch);
  if (stream != nullptr) {
    try {
      stream->launch(launch);
    } catch (...) {
      running_.pop_back();
      throw;
    }
  }
  last_ = launch;
}

Stream &Context::own_stream() {
  if (stream_ == nullptr)
    stream_ = Stream::start();
  return *stream_;
}

} // namespace xiokv::host
