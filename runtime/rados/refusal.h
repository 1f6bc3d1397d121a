// SPDX-License-Identifier: MIT
/// @file
/// @brief Why a store cannot be opened.
#pragma once

#include <stdexcept>

namespace xiokv::rados {

/// @brief The store cannot be opened; the message is one line for the user.
class Refusal : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace xiokv::rados
