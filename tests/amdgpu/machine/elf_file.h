// SPDX-License-Identifier: MIT
/// @file
/// @brief A code object in memory: an ELF file, its segments loaded as a device
/// would, its symbols, its target and its metadata.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "msgpack.h"

namespace amdgpu {

/// @brief Where a symbol is, in bytes from the image's start.
struct Symbol {
  uint64_t offset;
  uint64_t size;
};

class ElfFile {
public:
  /// @brief Load the file; throws Refusal where it is no AMD code object.
  ElfFile(const void *bytes, size_t size);

  /// @brief The loaded image.
  uint8_t *base() const { return image_.get(); }
  uint64_t size() const { return size_; }
  const std::map<std::string, Symbol> &symbols() const { return symbols_; }
  const Value &metadata() const { return metadata_; }
  /// @brief "gfx942", and its features where the file has them set.
  const std::string &target() const { return target_; }

private:
  template <class T> const T &read(uint64_t offset) const;
  void load_segments();
  void read_notes(uint64_t offset, uint64_t size);
  void read_sections();
  void read_symbols(uint64_t table, uint64_t size, uint64_t names);
  void relocate(uint64_t table, uint64_t size);

  const uint8_t *file_;
  size_t file_size_;
  struct Unmap {
    uint64_t size;
    void operator()(uint8_t *image) const;
  };
  std::unique_ptr<uint8_t, Unmap> image_;
  uint64_t size_ = 0;
  std::map<std::string, Symbol> symbols_;
  Value metadata_;
  std::string target_;
};

} // namespace amdgpu
