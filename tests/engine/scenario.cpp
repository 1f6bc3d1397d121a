// SPDX-License-Identifier: MIT
#include "scenario.h"

namespace {
template <class T, size_t N>
T pick(std::mt19937_64 &random, const T (&from)[N]) {
  return from[random() % N];
}
} // namespace

Scenario::Scenario(uint64_t seed, Workgroups &workgroups, Tally &tally)
    : random_(seed), workgroups_(workgroups), tally_(tally),
      play_(workgroups, draw_config(), seed, tally) {
  draw_queues();
  draw_keys();
}

xiokv_emu_config Scenario::draw_config() {
  xiokv_emu_config config = {};
  config.dstrd = below(4);
  config.flags = XIOKV_EMU_STRICT;
  for (uint32_t flag : {XIOKV_EMU_SPLIT_CQE, XIOKV_EMU_DELETE_MISSING_FAILS,
                        XIOKV_EMU_SCT1, XIOKV_EMU_STORE_RETURNS_SIZE})
    config.flags |= chance(2) ? flag : 0u;
  return config;
}

void Scenario::draw_queues() {
  static const uint32_t depths[] = {2, 3, 4, 5, 7, 8, 16, 33, 64};
  const uint32_t count = 1 + below(3);
  std::vector<Shape> shapes;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t beyond = chance(3) ? workgroups_.shared_window() : 0;
    shapes.push_back({pick(random_, depths), pick(random_, depths),
                      beyond + 1 + below(40), 4});
  }
  // So many commands at once that every wave has some.
  if (chance(4))
    shapes[0] = {256, 256, chance(2) ? 300 : workgroups_.shared_window() + 1,
                 4};
  play_.create_queues(shapes);
}

void Scenario::draw_keys() {
  const uint32_t count = chance(4) ? below(300) : below(60);
  std::vector<Bytes> &keys = play_.keys;
  for (uint32_t i = 0; i < count; ++i) {
    if (!keys.empty() && chance(10)) {
      keys.push_back(keys[below(static_cast<uint32_t>(keys.size()))]);
      continue;
    }
    Bytes key(1 + below(16));
    for (char &byte : key)
      byte = chance(4) ? '\0' : static_cast<char>(below(256));
    keys.push_back(key);
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
  fault.kind = kind;
  fault.amount = amount;
  fault.probability = probability;
  fault.status = kind == XIOKV_EMU_STATUS ? 0x88 : 0;
  play_.add_fault(fault);
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

/// Faults end before the last batch; queues that died are given up by a reset
/// and made anew.
void Scenario::run() {
  draw_faults();
  store();
  if (chance(2))
    probe_or_delete();
  retrieve(true);
  play_.end_faults();
  if (play_.any_dead()) {
    play_.reset();
    draw_queues();
  }
  retrieve(false);
  tally_.add("scenarios");
}

Request Scenario::draw_request(const std::string &command) {
  std::vector<uint32_t> sizes;
  for (size_t i = 0; i < play_.keys.size(); ++i)
    sizes.push_back(command == "store" || command == "retrieve" ? draw_size()
                                                                : 0);
  Request request = play_.request(command, sizes, 4 * below(1024), chance(2));
  const Pace &pace = workgroups_.pace();
  if (pace.leaps && chance(4))
    request.leap_at = 1 + random_() % (pace.batch / 7);
  return request;
}

/// Some batches are stopped, or are given a time.
void Scenario::limit(Request &request) {
  const Pace &pace = workgroups_.pace();
  if (play_.has_fault(XIOKV_EMU_DROP) || play_.has_fault(XIOKV_EMU_STALL))
    request.deadline = pace.impatient;
  if (chance(8))
    request.stop_at = 1 + random_() % pace.batch;
  if (chance(16))
    request.stop_at = Request::preset;
  if (chance(16))
    request.total = 1 + random_() % (2 * pace.batch);
}

void Scenario::store() {
  Request request = draw_request("store");
  limit(request);
  play_.store(request);
}

void Scenario::probe_or_delete() {
  const bool deletes = chance(2);
  Request request = draw_request(deletes ? "delete" : "exist");
  limit(request);
  deletes ? play_.erase(request) : play_.exist(request);
}

void Scenario::retrieve(bool limited) {
  Request request = draw_request("retrieve");
  if (limited)
    limit(request);
  play_.retrieve(request);
}
