// SPDX-License-Identifier: MIT
/// @file
/// @brief The engine's machine code on the software AMD machine, with weak
/// memory.
#pragma once

#include <memory>
#include <vector>

#include "../machine/machine.h"
#include "workgroups.h"

/// @brief Workgroups of 256 lanes that run the kernels of code objects.
class CodeObjects : public Workgroups {
public:
  /// @brief Load a code object; its kernels take the place of those of the same
  /// name from objects loaded before.
  void load(const std::string &path);

  const Pace &pace() const override;
  uint32_t shared_window() const override { return 1024; }
  void run(const std::string &command, const xiokv_batch &batch, uint64_t seed,
           const std::function<void()> &outside) override;
  uint64_t now() const override;
  void leap(uint64_t) override {}

private:
  using Image = std::unique_ptr<amdgpu_image, decltype(&amdgpu_unload)>;
  using Run = std::unique_ptr<amdgpu_run, decltype(&amdgpu_finish)>;

  std::vector<Image> images_;
  Run run_{nullptr, amdgpu_finish}; ///< The last one.
};
