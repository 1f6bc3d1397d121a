// SPDX-License-Identifier: MIT
#include "play.h"

#include "checks.h"

namespace {
constexpr size_t gap = 8; ///< Guard bytes between value buffers.

/// @brief A key as the engine reads it.
struct alignas(16) Key {
  char bytes[16] = {};
};

xiokv_emu_config complete(xiokv_emu_config config, uint64_t seed) {
  config.struct_size = sizeof config;
  config.value_max = Play::value_max;
  config.seed = seed;
  return config;
}

Bytes value_of(uint64_t seed, size_t index, uint32_t size) {
  Bytes value(size);
  uint64_t word = seed * 0x9e3779b97f4a7c15u + index;
  for (char &byte : value) {
    word = word * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<char>(word >> 56);
  }
  return value;
}

template <class T> uint64_t address(const T *pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}
} // namespace

Play::Play(Workgroups &workgroups, xiokv_emu_config config, uint64_t seed,
           Tally &tally)
    : workgroups_(workgroups), seed_(seed), random_(seed), tally_(tally),
      bench_(complete(config, seed)) {
  xiokv_emu_trace_start(emu(), 1u << 20);
}

/// About half of the queues have a mirror.
void Play::create_queues(const std::vector<Shape> &shapes) {
  queues.clear();
  for (const Shape &shape : shapes) {
    queues.push_back(bench_.create(next_qid_++, shape, value_max));
    if (below(2) == 0) {
      mirrors_.push_back(std::make_unique<xiokv_queue>());
      queues.back().mirror = address(mirrors_.back().get());
    }
  }
}

void Play::add_fault(struct xiokv_emu_fault fault) {
  fault.struct_size = sizeof fault;
  if (xiokv_emu_fault(emu(), &fault) != 0)
    throw Broken("the controller refused a fault");
  faults_.insert(fault.kind);
  drawn_.insert(fault.kind);
}

void Play::end_faults() {
  xiokv_emu_clear_faults(emu());
  faults_.clear();
}

void Play::reset() {
  xiokv_emu_reset(emu());
  open_.clear();
  queues.clear();
  next_qid_ = 1;
}

Request Play::request(const std::string &command,
                      const std::vector<uint32_t> &sizes, uint32_t start,
                      bool scattered) {
  Request request = {
      command, keys, sizes, {}, nullptr, workgroups_.pace().patient, 0, 0, 0};
  uint64_t end = 0;
  for (uint32_t size : sizes) {
    request.offsets.push_back(end);
    end += (size + gap + 3) / 4 * 4 + 4 * below(3);
  }
  buffers_.push_back(std::make_unique<Buffer>(random_, end, start, scattered));
  request.buffer = buffers_.back().get();
  return request;
}

/// What happens outside while a batch runs: its time comes, and the controller
/// goes on.
void Play::drive(Request &request, const xiokv_batch &batch, xiokv_stop &stop) {
  workgroups_.run(request.command, batch, random_(), [&] {
    const uint64_t now = workgroups_.now();
    if (request.stop_at != 0 && now >= request.stop_at)
      stop.flag = 1;
    if (request.leap_at != 0 && now >= request.leap_at) {
      workgroups_.leap(2 * request.deadline);
      request.leap_at = 0;
    }
    xiokv_emu_step(emu(), queues[below(batch.queue_count)].qid);
  });
}

Results Play::launch(Request &request) {
  const size_t count = request.keys.size();
  std::vector<Key> named(count);
  std::vector<uint8_t> lengths(count);
  for (size_t i = 0; i < count; ++i) {
    memcpy(named[i].bytes, request.keys[i].data(), request.keys[i].size());
    lengths[i] = static_cast<uint8_t>(request.keys[i].size());
  }
  Results results(count);
  xiokv_batch_state state = {};
  alignas(16) xiokv_stop stop = {};
  stop.flag = request.stop_at == Request::preset ? 1 : 0;
  xiokv_batch batch = {};
  batch.queues = address(queues.data());
  batch.first_ring = below(2) == 0 ? 0 : queues[0].tables;
  batch.state = address(&state);
  batch.stop = address(&stop);
  batch.keys = address(named.data());
  batch.key_lengths = address(lengths.data());
  batch.sizes = address(request.sizes.data());
  batch.offsets = address(request.offsets.data());
  batch.results = address(results.data());
  batch.deadline = request.deadline;
  batch.total = request.total;
  batch.count = static_cast<uint32_t>(count);
  batch.queue_count = static_cast<uint32_t>(queues.size());
  batch.chunk = 1 + below(20);
  request.buffer->describe(batch);
  limited_ = request.stop_at != 0 || request.total != 0;
  was_dead_ = any_dead();
  const uint64_t fetched = counters().commands;
  drive(request, batch, stop);
  check_after(request, results);
  if (state.claimed != 0 || state.exited != 0)
    throw Broken("the last queue out left the batch's state as it was");
  if (request.stop_at == Request::preset)
    // A controller fetches what a dead queue has left in its ring at any time.
    check_nothing_ran(results, was_dead_ ? 0 : counters().commands - fetched);
  return results;
}

void Play::check_after(const Request &request, const Results &results) {
  for (size_t i = 0; i < results.size(); ++i) {
    tally_.add(outcome_name(results[i].outcome));
    check_outcome(request, i, results[i]);
  }
  check_trace();
  check_queues(results);
  check_mirrors();
  check_doorbells();
  tally_.add("keys", results.size());
  tally_.add("ticks", workgroups_.now());
}

Results Play::store(Request &request) {
  std::vector<Bytes> values;
  for (size_t i = 0; i < request.keys.size(); ++i) {
    values.push_back(value_of(seed_, i, request.sizes[i]));
    request.buffer->write(request.offsets[i], values[i]);
  }
  const Results results = launch(request);
  for (size_t i = 0; i < results.size(); ++i) {
    Known &known = known_[request.keys[i]];
    if (results[i].outcome == XIOKV_OUTCOME_OK)
      known.absent = false;
    if (results[i].outcome == XIOKV_OUTCOME_OK ||
        results[i].outcome == XIOKV_OUTCOME_TIMEOUT)
      known.values.insert(values[i]);
    if (results[i].outcome == XIOKV_OUTCOME_MISSING)
      throw Broken("store of key " + hex(request.keys[i]) +
                   " found it missing");
  }
  return results;
}

Results Play::retrieve(Request &request) {
  const Results results = launch(request);
  for (size_t i = 0; i < results.size(); ++i)
    check_value(request, i, results[i]);
  check_gaps(request);
  return results;
}

Results Play::exist(Request &request) {
  const Results results = launch(request);
  for (size_t i = 0; i < results.size(); ++i) {
    const Known &known = known_[request.keys[i]];
    if (results[i].outcome == XIOKV_OUTCOME_MISSING && !known.absent)
      throw Broken("exist: key " + hex(request.keys[i]) +
                   " is there, not missing");
    if (results[i].outcome == XIOKV_OUTCOME_OK && known.values.empty())
      throw Broken("exist: key " + hex(request.keys[i]) +
                   " is missing, not there");
  }
  return results;
}

Results Play::erase(Request &request) {
  const Results results = launch(request);
  for (size_t i = 0; i < results.size(); ++i) {
    Known &known = known_[request.keys[i]];
    const uint8_t outcome = results[i].outcome;
    if (outcome == XIOKV_OUTCOME_OK || outcome == XIOKV_OUTCOME_TIMEOUT)
      known.absent = true;
    // A store that timed out may still be carried out after the delete.
    if (outcome == XIOKV_OUTCOME_OK && !any_dead())
      known.values.clear();
  }
  return results;
}

Results Play::list(Request &request) {
  const Results results = launch(request);
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].outcome == XIOKV_OUTCOME_OK)
      for (const Bytes &key : keys_on_page(request, i))
        if (!known_.count(key))
          throw Broken("key " + hex(key) + " is listed and was never stored");
  check_gaps(request);
  return results;
}
