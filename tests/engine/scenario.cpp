// SPDX-License-Identifier: MIT
#include "scenario.h"

#include <stdio.h>

#include <algorithm>

#include "fibers.h"

extern "C" {
void xiokv_batch_store(const xiokv_batch *batch, uint32_t number);
void xiokv_batch_retrieve(const xiokv_batch *batch, uint32_t number);
void xiokv_batch_delete(const xiokv_batch *batch, uint32_t number);
void xiokv_batch_exist(const xiokv_batch *batch, uint32_t number);
}

namespace {
using Kernel = void (*)(const xiokv_batch *, uint32_t);

constexpr uint32_t value_max = 6u << 20;
constexpr uint64_t patient = 1000000; ///< Steps that no healthy batch waits.
constexpr uint64_t impatient = 60000;
constexpr uint64_t step_limit = 10000000;
constexpr size_t slot_gap = 8; ///< Guard bytes between value buffers.

/// @brief A key as the engine reads it.
struct alignas(16) Key {
  char bytes[16] = {};
};

Kernel kernel_of(const std::string &command) {
  static const std::map<std::string, Kernel> kernels = {
      {"store", xiokv_batch_store},
      {"retrieve", xiokv_batch_retrieve},
      {"delete", xiokv_batch_delete},
      {"exist", xiokv_batch_exist}};
  return kernels.at(command);
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

template <class T, size_t N>
T pick(std::mt19937_64 &random, const T (&from)[N]) {
  return from[random() % N];
}
} // namespace

void Tally::print() const {
  const char *separator = "{";
  for (const auto &[name, count] : counts_) {
    printf("%s\"%s\": %llu", separator, name.c_str(),
           static_cast<unsigned long long>(count));
    separator = ", ";
  }
  printf("}\n");
}

Scenario::Scenario(uint64_t seed) : seed_(seed), random_(seed) {
  config_.struct_size = sizeof config_;
  config_.dstrd = below(4);
  config_.value_max = value_max;
  config_.seed = seed;
  config_.flags = XIOKV_EMU_STRICT;
  for (uint32_t flag : {XIOKV_EMU_SPLIT_CQE, XIOKV_EMU_DELETE_MISSING_FAILS,
                        XIOKV_EMU_SCT1, XIOKV_EMU_STORE_RETURNS_SIZE})
    config_.flags |= chance(2) ? flag : 0u;
  bench_ = std::make_unique<Bench>(config_);
  xiokv_emu_trace_start(bench_->emu(), 1u << 20);
  create_queues();
  draw_keys();
}

void Scenario::create_queues() {
  static const uint32_t depths[] = {2, 3, 4, 5, 7, 8, 16, 33, 64};
  const uint32_t count = 1 + below(3);
  queues_.clear();
  for (uint32_t i = 0; i < count; ++i)
    queues_.push_back(bench_->create(
        next_qid_++,
        {pick(random_, depths), pick(random_, depths), 1 + below(40), 4},
        value_max));
}

void Scenario::draw_keys() {
  const uint32_t count = chance(8) ? below(300) : below(60);
  for (uint32_t i = 0; i < count; ++i) {
    if (!keys_.empty() && chance(10)) {
      keys_.push_back(keys_[below(static_cast<uint32_t>(keys_.size()))]);
      continue;
    }
    Bytes key(1 + below(16));
    for (char &byte : key)
      byte = chance(4) ? '\0' : static_cast<char>(below(256));
    keys_.push_back(key);
  }
}

uint32_t Scenario::draw_size() {
  static const uint32_t edges[] = {0, 1, 4095, 4096, 4097, 8192, 8193, 12288};
  if (chance(12))
    return pick(random_, edges);
  return chance(600) ? 4096 * (510 + below(520)) + below(5) : below(300);
}

void Scenario::add_fault(uint32_t kind, uint64_t amount, uint32_t probability) {
  struct xiokv_emu_fault fault = {};
  fault.struct_size = sizeof fault;
  fault.kind = kind;
  fault.amount = amount;
  fault.probability = probability;
  fault.status = kind == XIOKV_EMU_STATUS ? 0x88 : 0;
  if (xiokv_emu_fault(bench_->emu(), &fault) != 0)
    throw Broken("the controller refused a fault");
  faults_.insert(kind);
  drawn_.insert(kind);
}

void Scenario::draw_faults() {
  if (chance(2))
    add_fault(XIOKV_EMU_REORDER, 2 + below(40), 0);
  else if (chance(4))
    add_fault(XIOKV_EMU_REVERSE, 2 + below(20), 0);
  if (chance(4))
    add_fault(XIOKV_EMU_DELAY, 1 + below(60), 100000);
  if (chance(3))
    add_fault(XIOKV_EMU_DUPLICATE, below(40), 200000);
  if (chance(4))
    add_fault(XIOKV_EMU_STATUS, 0, 100000);
  if (chance(4))
    add_fault(XIOKV_EMU_UNKNOWN_CID, 0, 100000);
  if (chance(4))
    add_fault(XIOKV_EMU_FOREIGN_SQID, 0, 100000);
  if (chance(6))
    add_fault(XIOKV_EMU_BAD_SIZE, 0, 100000);
  if (chance(8))
    add_fault(XIOKV_EMU_DROP, 0, 30000);
  if (chance(16))
    add_fault(XIOKV_EMU_STALL, chance(2) ? 0 : 200, 20000);
}

void Scenario::run(Tally &tally) {
  draw_faults();
  store(tally);
  if (chance(2))
    probe_or_delete(tally);
  retrieve(tally, false);
  recover();
  retrieve(tally, true);
  tally.add("scenarios");
}

Request Scenario::request(const std::string &command, bool exact) {
  Request request = {command, keys_, {}, {}, nullptr, patient, 0, 0, 0};
  uint64_t end = 0;
  for (size_t i = 0; i < keys_.size(); ++i) {
    request.sizes.push_back(
        command == "store" || command == "retrieve" ? draw_size() : 0);
    request.offsets.push_back(end);
    end += (request.sizes[i] + slot_gap + 3) / 4 * 4 + 4 * below(3);
  }
  buffers_.push_back(
      std::make_unique<Buffer>(random_, end, 4 * below(1024), chance(2)));
  request.buffer = buffers_.back().get();
  request.leap_at = chance(4) ? 1 + below(3000) : 0;
  if (exact)
    return request;
  if (faults_.count(XIOKV_EMU_DROP) || faults_.count(XIOKV_EMU_STALL))
    request.deadline = impatient;
  request.stop_at = chance(8) ? 1 + below(20000) : 0;
  if (chance(16))
    request.stop_at = Request::preset;
  request.total = chance(16) ? 1 + below(40000) : 0;
  return request;
}

std::vector<xiokv_result> Scenario::launch(Request &request, Tally &tally) {
  const size_t count = request.keys.size();
  std::vector<Key> keys(count);
  std::vector<uint8_t> lengths(count);
  for (size_t i = 0; i < count; ++i) {
    memcpy(keys[i].bytes, request.keys[i].data(), request.keys[i].size());
    lengths[i] = static_cast<uint8_t>(request.keys[i].size());
  }
  std::vector<xiokv_result> results(count);
  xiokv_batch_state state = {};
  alignas(16) xiokv_stop stop = {};
  stop.flag = request.stop_at == Request::preset ? 1 : 0;
  xiokv_batch batch = {};
  batch.queues = address(queues_.data());
  batch.state = address(&state);
  batch.stop = address(&stop);
  batch.keys = address(keys.data());
  batch.key_lengths = address(lengths.data());
  batch.sizes = address(request.sizes.data());
  batch.offsets = address(request.offsets.data());
  batch.results = address(results.data());
  batch.deadline = request.deadline;
  batch.total = request.total;
  batch.count = static_cast<uint32_t>(count);
  batch.queue_count = static_cast<uint32_t>(queues_.size());
  batch.chunk = 1 + below(20);
  request.buffer->describe(batch);
  std::vector<xiokv_queue> mirrors(queues_.size());
  for (size_t i = 0; i < queues_.size(); ++i)
    queues_[i].mirror = chance(2) ? address(&mirrors[i]) : 0;
  limited_ = request.stop_at != 0 || request.total != 0;
  was_dead_ = any_dead();
  const uint64_t fetched = counters().commands;

  fibers::World world(random_(), SIMULATED_LANES, SIMULATED_WAVE);
  for (uint32_t number = 0; number < batch.queue_count; ++number)
    world.add([&batch, number, kernel = kernel_of(request.command)] {
      kernel(&batch, number);
    });
  world.run(
      [&] {
        if (request.stop_at != 0 && world.now >= request.stop_at)
          stop.flag = 1;
        if (request.leap_at != 0 && world.now >= request.leap_at) {
          world.now += 2 * request.deadline;
          request.leap_at = 0;
        }
        xiokv_emu_step(bench_->emu(),
                       queues_[world.below(batch.queue_count)].qid);
      },
      step_limit);
  for (const xiokv_result &result : results)
    tally.add(outcome_name(result.outcome));
  for (size_t i = 0; i < count; ++i)
    check_outcome(request, i, results[i]);
  check_trace();
  check_queues(results);
  check_mirrors();
  check_doorbells();
  if (state.claimed != 0 || state.exited != 0)
    throw Broken("the last queue out left the batch's state as it was");
  if (request.stop_at == Request::preset)
    check_nothing_ran(results, counters().commands - fetched);
  tally.add("keys", count);
  tally.add("steps", world.now);
  return results;
}

std::vector<xiokv_result> Scenario::store(Tally &tally) {
  Request store = request("store", false);
  std::vector<Bytes> values;
  for (size_t i = 0; i < keys_.size(); ++i) {
    values.push_back(value_of(seed_, i, store.sizes[i]));
    store.buffer->write(store.offsets[i], values[i]);
  }
  const std::vector<xiokv_result> results = launch(store, tally);
  for (size_t i = 0; i < keys_.size(); ++i) {
    Known &known = known_[keys_[i]];
    if (results[i].outcome == XIOKV_OUTCOME_OK)
      known.absent = false;
    if (results[i].outcome == XIOKV_OUTCOME_OK ||
        results[i].outcome == XIOKV_OUTCOME_TIMEOUT)
      known.values.insert(values[i]);
    if (results[i].outcome == XIOKV_OUTCOME_MISSING)
      throw Broken("store of key " + hex(keys_[i]) + " found it missing");
  }
  return results;
}

void Scenario::probe_or_delete(Tally &tally) {
  Request asked = request(chance(2) ? "exist" : "delete", false);
  const std::vector<xiokv_result> results = launch(asked, tally);
  const bool deletes = asked.command == "delete";
  std::map<Bytes, Known> after = known_;
  for (size_t i = 0; i < keys_.size(); ++i) {
    const Known &known = known_[keys_[i]];
    const uint8_t outcome = results[i].outcome;
    if (outcome == XIOKV_OUTCOME_MISSING && !known.absent && !deletes)
      throw Broken("exist: key " + hex(keys_[i]) + " is there, not missing");
    if (outcome == XIOKV_OUTCOME_OK && known.values.empty() && !deletes)
      throw Broken("exist: key " + hex(keys_[i]) + " is missing, not there");
    if (deletes &&
        (outcome == XIOKV_OUTCOME_OK || outcome == XIOKV_OUTCOME_TIMEOUT))
      after[keys_[i]].absent = true;
    // A store that timed out may still be carried out after the delete.
    if (deletes && outcome == XIOKV_OUTCOME_OK && !any_dead())
      after[keys_[i]].values.clear();
  }
  known_ = after;
}

void Scenario::retrieve(Tally &tally, bool exact) {
  Request asked = request("retrieve", exact);
  const std::vector<xiokv_result> results = launch(asked, tally);
  uint64_t covered = 0;
  for (size_t i = 0; i < keys_.size(); ++i) {
    check_value(asked, i, results[i]);
    if (!is_poison(asked.buffer->read(covered, asked.offsets[i] - covered)))
      throw Broken("bytes before the buffer of key " + std::to_string(i) +
                   " were written");
    covered = asked.offsets[i] + asked.sizes[i];
  }
}

/// Faults end; queues that died are given up by a reset and made anew.
void Scenario::recover() {
  xiokv_emu_clear_faults(bench_->emu());
  if (any_dead()) {
    xiokv_emu_reset(bench_->emu());
    open_.clear();
    next_qid_ = 1;
    create_queues();
  }
  faults_.clear();
}
