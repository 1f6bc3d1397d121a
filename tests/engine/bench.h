// SPDX-License-Identifier: MIT
/// @file
/// @brief What a scenario is set up from: a controller in steps, its queue
/// pairs, and value buffers whose pages may lie anywhere.
#pragma once

#include <stdint.h>
#include <string.h>

#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulator.h"
#include "xiokv/kv_abi.h"

using Bytes = std::vector<char>;

/// @brief A claim about the engine that did not hold.
struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// @brief Memory on a page boundary, filled with one byte.
class Pages {
public:
  Pages(size_t count, char fill);
  char *data() const { return data_; }
  uint64_t address() const { return reinterpret_cast<uint64_t>(data_); }

private:
  std::unique_ptr<char[]> block_;
  char *data_;
};

/// @brief A value buffer: contiguous, or pages in random places behind a table.
class Buffer {
public:
  static constexpr char poison = '\xa5';

  /// @param start Where in its first page the buffer starts.
  Buffer(std::mt19937_64 &random, size_t bytes, uint32_t start, bool scattered);

  void describe(xiokv_batch &batch) const;
  void write(uint64_t offset, const Bytes &bytes);
  Bytes read(uint64_t offset, size_t bytes) const;
  size_t bytes() const { return bytes_; }

private:
  char *at(uint64_t offset) const;

  size_t bytes_;
  uint32_t start_;
  bool scattered_;
  Pages arena_;
  std::vector<uint64_t> table_;
};

/// @brief The shape of a queue pair.
struct Shape {
  uint32_t sq_depth;
  uint32_t cq_depth;
  uint32_t window;
  uint32_t prp_pages;
};

/// @brief A queue pair's memory; it outlives whatever a dead queue may do.
struct Rings {
  Rings(const Shape &shape);
  Pages sq, cq, pool;
  std::unique_ptr<uint64_t[]> tables;
};

/// @brief The embedded controller, served by steps alone.
class Bench {
public:
  explicit Bench(const xiokv_emu_config &config);
  ~Bench() { xiokv_emu_destroy(emu_); }
  Bench(const Bench &) = delete;
  Bench &operator=(const Bench &) = delete;

  xiokv_emu *emu() const { return emu_; }

  /// @brief Create queue pair `qid`, and return it as the engine sees it.
  xiokv_queue create(uint32_t qid, const Shape &shape, uint32_t max_value);

private:
  void admin(uint8_t opcode, uint64_t prp1, uint32_t cdw10, uint32_t cdw11);

  xiokv_emu *emu_;
  uint32_t dstrd_;
  std::vector<std::unique_ptr<Rings>> rings_;
};
