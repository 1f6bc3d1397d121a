// SPDX-License-Identifier: MIT
/// @file
/// @brief A value store in this process's memory.
///
/// Keys are spread over shards with a lock each; a shard keeps them in List
/// order, and a List merges the shards.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <unordered_map>

#include "value_store.h"

namespace xiokv::emulator {

/// @brief A key's place in List order.
struct Place {
  uint64_t hash; ///< 0 where keys go by their bytes.
  Key key;

  bool operator<(const Place &other) const {
    return hash != other.hash ? hash < other.hash : key < other.key;
  }
};

class MemoryStore : public ValueStore {
public:
  /// @brief Take limits and List order from a configuration.
  explicit MemoryStore(const Config &config);

  std::unique_ptr<Session> open(Wake wake) override;
  Usage usage() const override;

  /// @brief Carry out a request on the calling thread.
  Reply run(const Request &request);

private:
  static constexpr size_t shard_count = 32;
  using Keys = std::set<Place>;

  struct Hash {
    size_t operator()(const Key &key) const;
  };

  /// A look-up asks the table alone: in a tree it would miss the cache at every
  /// level.
  struct alignas(line_bytes) Shard {
    std::mutex mutex;
    std::unordered_map<Key, Blob, Hash> values;
    Keys keys; ///< Those of `values`, in List order.
  };

  Place place(const Key &key) const;
  Shard &shard(const Key &key);

  Answer store(const Request &request);
  Answer retrieve(const Request &request, Reply &reply);
  Answer list(const Request &request);
  Answer erase(const Request &request);
  Answer exist(const Request &request);

  bool reserve(uint64_t keys, uint64_t bytes);
  void give_back(uint64_t keys, uint64_t bytes);

  const uint64_t capacity_;
  const uint64_t max_keys_;
  const bool hashed_;
  const bool wrap_;
  std::array<Shard, shard_count> shards_;
  std::atomic<uint64_t> keys_{0};
  std::atomic<uint64_t> bytes_{0};
};

} // namespace xiokv::emulator
