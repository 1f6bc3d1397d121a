// SPDX-License-Identifier: MIT
/// @file
/// @brief Keeps from the terminal what librados says there by itself, whatever
/// its options are.
#pragma once

namespace xiokv::rados {

/// @brief While it lives, nothing that this thread writes to std::cout and
/// std::cerr goes anywhere; what others write goes where it went.
class Quiet {
public:
  Quiet();
  ~Quiet();
  Quiet(const Quiet &) = delete;
  Quiet &operator=(const Quiet &) = delete;
};

} // namespace xiokv::rados
