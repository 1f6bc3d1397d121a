// SPDX-License-Identifier: MIT
/// @file
/// @brief A shared library with kernels, opened.
#pragma once

#include <memory>
#include <string>

namespace xiokv::host {

class Library {
public:
  static constexpr const char *what = "library";
  static constexpr bool forks = true;

  /// @brief Load a file with all its symbols; a Fault where that does not go.
  explicit Library(std::string path);
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;
  ~Library();

  const std::string &path() const { return path_; }

  /// @brief Address of a symbol, or null.
  void *symbol(const char *name) const;

private:
  const std::string path_;
  void *const handle_;
};

} // namespace xiokv::host
