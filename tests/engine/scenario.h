// SPDX-License-Identifier: MIT
/// @file
/// @brief One random case: shapes, keys and faults, drawn from a seed.
#pragma once

#include "play.h"

/// @brief A case drawn from its seed.
class Scenario {
public:
  Scenario(uint64_t seed, Workgroups &workgroups, Tally &tally);

  /// @brief Run it; throws what derives from std::exception where a claim does
  /// not hold.
  void run();

private:
  uint32_t below(uint32_t bound) {
    return static_cast<uint32_t>(random_() % bound);
  }
  bool chance(uint32_t one_in) { return below(one_in) == 0; }

  xiokv_emu_config draw_config();
  void draw_keys();
  void draw_queues();
  void draw_faults();
  void add_fault(uint32_t kind, uint64_t amount, uint32_t parts_in_a_million);
  uint32_t draw_size();
  Request draw_request(const std::string &command);
  void limit(Request &request);
  void store();
  void probe_or_delete();
  void retrieve(bool limited);

  std::mt19937_64 random_;
  Workgroups &workgroups_;
  Tally &tally_;
  Play play_;
};
