// SPDX-License-Identifier: MIT
#include "cases.h"

#include <algorithm>

#include "stage.h"

namespace {
const Shape usual = {64, 64, 40, 4};

void in_another_order(Workgroups &machine, uint64_t seed, Tally &tally,
                      uint32_t kind) {
  Stage stage(machine, seed, tally, 60, {usual}, XIOKV_EMU_SPLIT_CQE);
  stage.fault(kind, 20);
  stage.store_and_retrieve(sizes_below(60, 300));
}

/// Twice as many keys as the queue holds, and some more.
void of_depth(Workgroups &machine, uint64_t seed, Tally &tally,
              uint32_t depth) {
  const size_t count = depth * 2 + 5;
  Stage stage(machine, seed, tally, count, {{depth, depth, 1023, 0}});
  stage.store_and_retrieve(sizes_below(count, 20));
  expect("commands", stage.report().completed, 2 * count);
}

void many_commands(Workgroups &machine, uint64_t seed, Tally &tally) {
  Stage stage(machine, seed, tally, 70000, {{65536, 65536, 65535, 0}});
  expect_all(stage.exist_all(), XIOKV_OUTCOME_MISSING);
  expect("commands", stage.report().completed, 70000);
}

/// The rings are of different, odd depths; stale entries lie in every slot.
void round_the_rings(Workgroups &machine, uint64_t seed, Tally &tally) {
  Stage stage(machine, seed, tally, 50, {{5, 7, 3, 4}});
  for (uint32_t round = 0; round < 3; ++round)
    stage.store_and_retrieve(sizes_below(50, 100 + round));
  const xiokv_queue &queue = stage.play.queues[0];
  expect("SQ tail", queue.sq_tail, 300 % 5);
  expect("CQ head", queue.cq_head, 300 % 7);
  expect("phase", queue.cq_phase, 300 / 7 % 2 ? 0 : 1);
}

void missing_in_mid_batch(Workgroups &machine, uint64_t seed, Tally &tally) {
  Stage stage(machine, seed, tally, 30, {usual});
  const std::vector<Bytes> all = stage.play.keys;
  stage.play.keys.erase(stage.play.keys.begin() + 13);
  stage.store_all(sizes_below(29, 50));
  stage.play.keys = all;
  const Results results = stage.exist_all();
  expect("keys that are there", count(results, XIOKV_OUTCOME_OK), 29);
  expect("outcome of the key", results[13].outcome, XIOKV_OUTCOME_MISSING);
}

void error_in_mid_batch(Workgroups &machine, uint64_t seed, Tally &tally) {
  Stage stage(machine, seed, tally, 30, {usual});
  stage.store_all(sizes_below(30, 50));
  stage.fault(XIOKV_EMU_STATUS, 0, 14, 0x88);
  const Results results = stage.exist_all();
  expect("keys that are there", count(results, XIOKV_OUTCOME_OK), 29);
  expect("outcome of the key", results[13].outcome, XIOKV_OUTCOME_ERROR);
  expect("status of the key", results[13].status, 0x88);
}

void larger_than_its_slot(Workgroups &machine, uint64_t seed, Tally &tally) {
  Stage stage(machine, seed, tally, 40, {usual});
  stage.store_all(Sizes(40, 300));
  Sizes slots = sizes_below(40, 600);
  Request request = stage.ask("retrieve", slots);
  const Results results = stage.play.retrieve(request);
  for (size_t i = 0; i < slots.size(); ++i) {
    expect("size of the value", results[i].value_size, 300);
    expect("outcome", results[i].outcome,
           slots[i] < 300 ? XIOKV_OUTCOME_TRUNCATED : XIOKV_OUTCOME_OK);
  }
}

void the_same_key_twice(Workgroups &machine, uint64_t seed, Tally &tally) {
  Stage stage(machine, seed, tally, 40, {usual, usual});
  std::vector<Bytes> &keys = stage.play.keys;
  std::copy(keys.begin(), keys.begin() + 20, keys.begin() + 20);
  Request store = stage.ask("store", sizes_below(40, 100));
  expect_all(stage.play.store(store), XIOKV_OUTCOME_OK);
  Request retrieve = stage.ask("retrieve", Sizes(40, 100));
  expect_all(stage.play.retrieve(retrieve), XIOKV_OUTCOME_OK);
}

/// Values of so many pages, side by side, so that a list that is too long runs
/// into its neighbour's.
void of_pages(Workgroups &machine, uint64_t seed, Tally &tally, uint32_t pages,
              uint32_t start, bool scattered) {
  Stage stage(machine, seed, tally, 3, {{8, 8, 4, 4}});
  const Sizes sizes(3, pages * XIOKV_PAGE_BYTES - start);
  Request store = stage.play.request("store", sizes, start, scattered);
  expect_all(stage.play.store(store), XIOKV_OUTCOME_OK);
  Request retrieve = stage.play.request("retrieve", sizes, start, scattered);
  expect_all(stage.play.retrieve(retrieve), XIOKV_OUTCOME_OK);
}

void never_completes(Workgroups &machine, uint64_t seed, Tally &tally) {
  Stage stage(machine, seed, tally, 30, {usual});
  stage.store_all(sizes_below(30, 50));
  stage.fault(XIOKV_EMU_DROP, 0, 14);
  Request request = stage.ask("exist");
  request.deadline = machine.pace().impatient;
  const Results results = stage.play.exist(request);
  expect("keys that are there", count(results, XIOKV_OUTCOME_OK), 29);
  expect("outcome of the key", results[13].outcome, XIOKV_OUTCOME_TIMEOUT);
  expect("state", stage.play.queues[0].state, XIOKV_QUEUE_DEAD);
  const uint64_t sent = stage.play.counters().commands;
  expect_all(stage.exist_all(), XIOKV_OUTCOME_TIMEOUT);
  expect("commands on a dead queue", stage.play.counters().commands - sent, 0);
  stage.play.end_faults();
  stage.play.reset();
  stage.play.create_queues({usual});
  expect_all(stage.exist_all(), XIOKV_OUTCOME_OK);
}

/// The controller stops with commands in hand and goes on when it is too late.
void completes_too_late(Workgroups &machine, uint64_t seed, Tally &tally) {
  Stage stage(machine, seed, tally, 30, {usual});
  stage.store_all(sizes_below(30, 50));
  stage.fault(XIOKV_EMU_STALL, 0, 14);
  Request request = stage.ask("exist");
  request.deadline = machine.pace().impatient;
  expect_some("keys that timed out",
              count(stage.play.exist(request), XIOKV_OUTCOME_TIMEOUT));
  stage.play.end_faults();
  while (xiokv_emu_step(stage.play.emu(), stage.play.queues[0].qid) != 0)
    continue;
  const uint64_t believed = stage.report().completed;
  expect_all(stage.exist_all(), XIOKV_OUTCOME_TIMEOUT);
  expect("completions believed", stage.report().completed, believed);
}

/// Entries that nobody asked for, and the next batch without them.
void not_believed(Workgroups &machine, uint64_t seed, Tally &tally,
                  uint32_t kind, uint64_t amount,
                  uint64_t xiokv_queue_report::*counter) {
  Stage stage(machine, seed, tally, 60, {{8, 8, 5, 4}});
  stage.fault(kind, amount);
  stage.store_and_retrieve(sizes_below(60, 100));
  expect_some("entries reported", stage.report().*counter);
  stage.play.end_faults();
  while (xiokv_emu_step(stage.play.emu(), stage.play.queues[0].qid) != 0)
    continue;
  stage.retrieve_all(sizes_below(60, 100));
}

void a_size_above_the_maximum(Workgroups &machine, uint64_t seed,
                              Tally &tally) {
  Stage stage(machine, seed, tally, 20, {usual});
  stage.store_all(sizes_below(20, 50));
  stage.fault(XIOKV_EMU_BAD_SIZE, 0);
  Request request = stage.ask("retrieve", sizes_below(20, 50));
  expect_all(stage.play.retrieve(request), XIOKV_OUTCOME_ERROR);
  expect("sizes reported", stage.report().oversize, 20);
  stage.play.end_faults();
  stage.retrieve_all(sizes_below(20, 50));
}

void stopped_in_mid_batch(Workgroups &machine, uint64_t seed, Tally &tally) {
  Stage stage(machine, seed, tally, 250, {{4, 4, 3, 4}});
  stage.store_all(sizes_below(250, 20));
  Request request = stage.ask("exist");
  request.stop_at = machine.pace().batch / 4;
  const Results results = stage.play.exist(request);
  expect_some("keys that are there", count(results, XIOKV_OUTCOME_OK));
  expect("keys that are not there and not cancelled",
         count(results, XIOKV_OUTCOME_OK) +
             count(results, XIOKV_OUTCOME_CANCELLED),
         250);
  expect_some("keys that are cancelled",
              count(results, XIOKV_OUTCOME_CANCELLED));
  expect_all(stage.exist_all(), XIOKV_OUTCOME_OK);
}

void stopped_beforehand(Workgroups &machine, uint64_t seed, Tally &tally) {
  Stage stage(machine, seed, tally, 20, {usual, usual});
  Request request = stage.ask("exist");
  request.stop_at = Request::preset;
  expect_all(stage.play.exist(request), XIOKV_OUTCOME_CANCELLED);
  expect_all(stage.exist_all(), XIOKV_OUTCOME_MISSING);
}

void one_batch_after_the_other(Workgroups &machine, uint64_t seed,
                               Tally &tally) {
  Stage stage(machine, seed, tally, 25, {{7, 6, 9, 4}});
  stage.store_and_retrieve(sizes_below(25, 100));
  expect_all(stage.exist_all(), XIOKV_OUTCOME_OK);
  Request request = stage.ask("delete");
  expect_all(stage.play.erase(request), XIOKV_OUTCOME_OK);
  expect_all(stage.exist_all(), XIOKV_OUTCOME_MISSING);
  stage.store_and_retrieve(sizes_below(25, 60));
  expect("commands", stage.report().completed, 7 * 25);
}

void above_what_the_queue_carries(Workgroups &machine, uint64_t seed,
                                  Tally &tally) {
  Stage stage(machine, seed, tally, 20, {usual});
  stage.play.queues[0].max_transfer = 100;
  Request request = stage.ask("store", sizes_below(20, 200));
  const Results results = stage.play.store(request);
  for (size_t i = 0; i < results.size(); ++i)
    expect("outcome", results[i].outcome,
           request.sizes[i] > 100 ? XIOKV_OUTCOME_ERROR : XIOKV_OUTCOME_OK);
}

void several_queues(Workgroups &machine, uint64_t seed, Tally &tally) {
  Stage stage(machine, seed, tally, 200,
              {{64, 64, 40, 4}, {8, 5, 3, 4}, {2, 2, 1, 4}});
  stage.fault(XIOKV_EMU_REORDER, 20);
  stage.store_and_retrieve(sizes_below(200, 300));
  for (const xiokv_queue &queue : stage.play.queues)
    expect_some("commands on a queue", queue.report.completed);
}

void tables_in_memory(Workgroups &machine, uint64_t seed, Tally &tally) {
  const uint32_t window = machine.shared_window() + 1;
  Stage stage(machine, seed, tally, 60, {{16, 33, window, 4}});
  stage.fault(XIOKV_EMU_DUPLICATE, 20);
  for (uint32_t round = 0; round < 2; ++round)
    stage.store_and_retrieve(sizes_below(60, 200 + round));
}

/// Every CID is used several times, and by other lanes than before.
void tables_in_memory_that_wrap(Workgroups &machine, uint64_t seed,
                                Tally &tally) {
  const uint32_t window = machine.shared_window() + 1;
  const size_t count = std::max<size_t>(1000, 3 * window);
  Stage stage(machine, seed, tally, count, {{256, 256, window, 4}});
  stage.fault(XIOKV_EMU_REORDER, 100);
  stage.store_and_retrieve(sizes_below(count, 20));
}

void lists(Workgroups &machine, uint64_t seed, Tally &tally) {
  Stage stage(machine, seed, tally, 40, {usual});
  stage.store_all(sizes_below(40, 20));
  std::vector<Bytes> all = stage.play.keys;
  std::sort(all.begin(), all.end(), [](const Bytes &a, const Bytes &b) {
    return std::lexicographical_compare(
        a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
          return static_cast<uint8_t>(x) < static_cast<uint8_t>(y);
        });
  });
  stage.play.keys = {Bytes(), all[7], all[39]};
  Request request = stage.ask("list", {4096, 44, 4096});
  expect_all(stage.play.list(request), XIOKV_OUTCOME_OK);
  if (stage.play.keys_on_page(request, 0) != all)
    throw Broken("a page for all keys holds others");
  expect_some("keys on a small page",
              stage.play.keys_on_page(request, 1).size());
  if (stage.play.keys_on_page(request, 1)[0] != all[7])
    throw Broken("a page does not begin with its key");
  expect("keys from the last on", stage.play.keys_on_page(request, 2).size(),
         1);
}

template <class... Values>
Case named(const char *name,
           void (*run)(Workgroups &, uint64_t, Tally &, Values...),
           Values... values) {
  return {name, [=](Workgroups &machine, uint64_t seed, Tally &tally) {
            run(machine, seed, tally, values...);
          }};
}
} // namespace

const std::vector<Case> cases = {
    named("completions in reverse order", in_another_order,
          uint32_t(XIOKV_EMU_REVERSE)),
    named("completions in random order", in_another_order,
          uint32_t(XIOKV_EMU_REORDER)),
    named("depth 2", of_depth, 2u),
    named("depth 3", of_depth, 3u),
    named("depth 255", of_depth, 255u),
    named("depth 1024", of_depth, 1024u),
    named("depth 65536, more than 65536 commands", many_commands),
    named("rings that wrap over stale entries", round_the_rings),
    named("a key missing in mid-batch", missing_in_mid_batch),
    named("an error status in mid-batch", error_in_mid_batch),
    named("a value larger than its slot", larger_than_its_slot),
    named("a key more than once", the_same_key_twice),
    named("1 page", of_pages, 1u, 0u, false),
    named("2 pages, unaligned", of_pages, 2u, 100u, false),
    named("3 pages, scattered", of_pages, 3u, 0u, true),
    named("513 pages", of_pages, 513u, 0u, false),
    named("514 pages, scattered", of_pages, 514u, 0u, true),
    named("1025 pages, scattered and unaligned", of_pages, 1025u, 100u, true),
    named("a completion that never comes", never_completes),
    named("completions that come too late", completes_too_late),
    named("a completion of an older generation", not_believed,
          uint32_t(XIOKV_EMU_DUPLICATE), uint64_t(30),
          &xiokv_queue_report::stale),
    named("a completion of an unknown CID", not_believed,
          uint32_t(XIOKV_EMU_UNKNOWN_CID), uint64_t(0),
          &xiokv_queue_report::unknown),
    named("a completion of another SQID", not_believed,
          uint32_t(XIOKV_EMU_FOREIGN_SQID), uint64_t(0),
          &xiokv_queue_report::foreign),
    named("a size above the maximum", a_size_above_the_maximum),
    named("a stop flag in mid-batch", stopped_in_mid_batch),
    named("a stop flag beforehand", stopped_beforehand),
    named("one batch after the other", one_batch_after_the_other),
    named("a value above what the queue carries", above_what_the_queue_carries),
    named("several queues", several_queues),
    named("tables in the queue's memory", tables_in_memory),
    named("tables in the queue's memory that wrap", tables_in_memory_that_wrap),
    named("lists", lists),
};
