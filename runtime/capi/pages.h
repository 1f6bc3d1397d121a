// SPDX-License-Identifier: MIT
/// @file
/// @brief Zeroed memory on a page boundary, whose address is also its IOVA; it
/// costs nothing until it is touched.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace xiokv::host {

class Pages {
public:
  Pages() = default;

  explicit Pages(size_t size) : size_(size) {
    if (size == 0)
      return;
    void *const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
      throw std::bad_alloc();
    start_ = mapped;
  }

  Pages(Pages &&other) noexcept
      : start_(std::exchange(other.start_, nullptr)), size_(other.size_) {}

  Pages &operator=(Pages &&other) noexcept {
    std::swap(start_, other.start_);
    std::swap(size_, other.size_);
    return *this;
  }

  ~Pages() {
    if (start_ != nullptr)
      munmap(start_, size_);
  }

  template <class Type> Type *as() const { return static_cast<Type *>(start_); }
  uint64_t address() const { return reinterpret_cast<uintptr_t>(start_); }
  size_t size() const { return size_; }

private:
  void *start_ = nullptr;
  size_t size_ = 0;
};

} // namespace xiokv::host
