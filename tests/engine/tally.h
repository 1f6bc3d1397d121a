// SPDX-License-Identifier: MIT
/// @file
/// @brief How often each thing was seen, so that a test can tell that it was.
#pragma once

#include <stdint.h>
#include <stdio.h>

#include <map>
#include <string>

class Tally {
public:
  void add(const std::string &name, uint64_t count = 1) {
    counts_[name] += count;
  }

  /// @brief Print all as one JSON object.
  void print() const {
    const char *separator = "{";
    for (const auto &[name, count] : counts_) {
      printf("%s\"%s\": %llu", separator, name.c_str(),
             static_cast<unsigned long long>(count));
      separator = ", ";
    }
    printf("}\n");
  }

private:
  std::map<std::string, uint64_t> counts_;
};
