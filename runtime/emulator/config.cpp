// SPDX-License-Identifier: MIT
#include "config.h"

#include <initializer_list>

namespace xiokv::emulator {

namespace {

constexpr uint32_t all_flags = (XIOKV_EMU_EXEC_INPUT_LENGTH << 1) - 1;

struct Range {
  const char *name;
  uint64_t value, low, high;
};

template <class Number> void set_default(Number &member, Number value) {
  if (member == 0)
    member = value;
}

bool in_range(std::initializer_list<Range> ranges, std::string &error) {
  for (const Range &range : ranges) {
    if (range.value >= range.low && range.value <= range.high)
      continue;
    error = std::string(range.name) + " is " + std::to_string(range.value) +
            "; allowed are " + std::to_string(range.low) + " to " +
            std::to_string(range.high);
    return false;
  }
  return true;
}

} // namespace

bool complete(const xiokv_emu_config &given, Config &config,
              std::string &error) {
  if (given.struct_size != sizeof given) {
    error = "struct_size is " + std::to_string(given.struct_size) +
            "; this controller was compiled for " +
            std::to_string(sizeof given);
    return false;
  }
  static_cast<xiokv_emu_config &>(config) = given;
  set_default(config.queues, 64u);
  set_default(config.mqes, 65535u);
  set_default(config.key_max, key_bytes);
  set_default(config.value_max, 32u << 20);
  set_default(config.capacity, UINT64_C(1) << 40);
  set_default(config.threads, 1u);
  if (config.has(XIOKV_EMU_DISTINCT_DW0) && !config.has(XIOKV_EMU_NULL)) {
    error = "distinct DW0 is of the null mode, which has to be set too";
    return false;
  }
  if (config.has(XIOKV_EMU_EXEC_INPUT_LENGTH) && !config.has(XIOKV_EMU_EXEC)) {
    error = "the input's length is Exec's, which has to be asked for too";
    return false;
  }
  return in_range({{"queues", config.queues, 1, 65534},
                   {"mqes", config.mqes, 1, 65535},
                   {"mdts", config.mdts, 0, 20},
                   {"dstrd", config.dstrd, 0, 15},
                   {"key_max", config.key_max, 1, 255},
                   {"active_format", config.active_format, 0, 15},
                   {"flags", config.flags, 0, all_flags},
                   {"threads", config.threads, 1, XIOKV_EMU_THREADS_MAX},
                   {"reserved", config.reserved, 0, 0}},
                  error);
}

} // namespace xiokv::emulator
