// SPDX-License-Identifier: MIT
/// @file
/// @brief A launch as it runs: its groups, and whose turn it is.
#pragma once

#include <stdint.h>

#include <memory>
#include <string>
#include <vector>

#include "image.h"
#include "machine.h"
#include "memory.h"
#include "random.h"
#include "reach.h"
#include "wave.h"

namespace amdgpu {

struct Group {
  uint32_t number = 0; ///< In order of launch.
  uint32_t id[3] = {0, 0, 0};
  std::vector<uint8_t> lds;
  std::vector<std::unique_ptr<Wave>> waves;
  uint32_t alive = 0;
  uint32_t at_barrier = 0; ///< Waves that have signalled the next barrier.
  uint64_t barriers = 0;   ///< That have opened.
};

/// @brief What a launch asks for.
struct Request {
  const Kernel *kernel;
  uint32_t groups[3];
  uint32_t lanes[3];
  std::vector<uint8_t> arguments;
  amdgpu_options options;
};

class Run {
public:
  Run(Image &image, Request request);

  /// @brief As amdgpu_step.
  int step(uint64_t steps);
  const std::string &failure() const { return failure_; }
  uint64_t instructions() const { return executed_; }

  // What instructions use.
  Image &image() { return image_; }
  Memory &memory() { return *memory_; }
  Reach &reach() { return reach_; }
  Random &random() { return random_; }
  const Request &request() const { return request_; }
  uint64_t clock() const;
  /// @brief A wave comes to a barrier; the last one opens it.
  void signal_barrier(Wave &wave);
  /// @brief A wave waits until the barrier that it signalled has opened.
  void wait_barrier(Wave &wave);
  void end(Wave &wave);

private:
  bool weak() const { return request_.options.flags & AMDGPU_WEAK; }
  void reach_own();
  void admit();
  void add_group(uint32_t number);
  Wave *pick();
  uint64_t turn(Wave &wave, uint64_t most);
  void execute(Wave &wave, uint64_t count);
  bool advance(uint64_t steps);
  bool event_is_next();
  void forget(Wave &wave);
  std::string where(const Wave &wave) const;

  Image &image_;
  Request request_;
  std::vector<uint64_t> packet_;
  Random random_;
  Reach reach_;
  std::unique_ptr<Memory> memory_;
  std::vector<std::unique_ptr<Group>> groups_; ///< That run now.
  std::vector<Wave *> waves_;                  ///< That have not ended.
  uint32_t admitted_ = 0;
  uint64_t executed_ = 0;
  uint32_t pauses_ = 0;           ///< Turns in a row that ended by a pause.
  const Wave *current_ = nullptr; ///< Whose turn it is.
  const Instruction *running_ = nullptr; ///< That it runs.
  std::string failure_;
};

/// @brief Fill a new group's registers and LDS as a device does at launch.
void begin_group(Group &group, Run &run, const std::vector<uint64_t> &packet);

/// @brief The arguments, hidden ones added; throws Refusal.
std::vector<uint8_t> whole_arguments(const Request &request);

/// @brief The packet that a queue would hand to the device.
std::vector<uint64_t> dispatch_packet(const Request &request);

} // namespace amdgpu
