// SPDX-License-Identifier: MIT
/// @file
/// @brief The connection to a Ceph cluster, and the pool that a store is in.
#pragma once

#include <chrono>
#include <string>

#include <rados/librados.hpp>

#include "../../generated/include/xiokv_rados.h"
#include "../emulator/value_store.h"
#include "refusal.h"

namespace xiokv::rados {

using emulator::Answer;

/// @brief Where a store is, complete and within its limits.
struct Place {
  std::string pool, name_space, user, cluster, conf, keyring;
  std::chrono::milliseconds timeout, connect_timeout;
  bool read_only;

  /// @brief Fill in the defaults; refuse what is not allowed.
  explicit Place(const xiokv_rados_config &given);
};

/// @brief Connected from the constructor on.
class Cluster {
public:
  explicit Cluster(const Place &place);
  ~Cluster() { rados_.shutdown(); }
  Cluster(const Cluster &) = delete;
  Cluster &operator=(const Cluster &) = delete;

  /// @brief Objects of the pool and namespace; it may be used by any thread.
  librados::IoCtx &objects() { return objects_; }

  /// @brief From now on, calls that wait for an OSD do so for no longer; 0: for
  /// ever, as they do at first.
  ///
  /// It costs every operation a timer, also of those that do not wait.
  void limit_calls(std::chrono::milliseconds longest);

  /// @brief Bytes of the largest value that OSDs take, by the options as this
  /// client has them; those that OSDs alone were given are not known here.
  uint32_t value_max() const { return value_max_; }

  /// @brief What a return value of an operation on an object means.
  Answer answer_to(int result);

private:
  void read_configuration(const Place &place);
  void configure(const Place &place);
  std::string complaint(int result, const Place &place);
  std::string no_monitor(const Place &place);
  std::string by_which_key(const std::string &why);
  std::string get(const char *option);
  void set(const char *option, const std::string &value);
  uint64_t number(const char *option, uint64_t otherwise);
  bool pool_is_gone();

  librados::Rados rados_;
  librados::IoCtx objects_;
  uint32_t value_max_;
};

} // namespace xiokv::rados
