// SPDX-License-Identifier: MIT
#include "copier_cuda.h"

namespace {

constexpr uint64_t page_bytes = 4096;

// CUpointer_attribute and CUmemorytype.
constexpr int memory_type = 2, is_managed = 8;
constexpr int range_start = 11, range_size = 12;
constexpr unsigned device_memory = 2;

const xiokv_copier_cuda &cuda_at(void *context) {
  return *static_cast<const xiokv_copier_cuda *>(context);
}

template <class Function> Function *function_at(void *address) {
  return reinterpret_cast<Function *>(address);
}

/// The calling thread's context as long as this lives, then the former again:
/// the thread may be one that works with another device.
class Current {
public:
  explicit Current(const xiokv_copier_cuda &cuda)
      : set_(function_at<int(void *)>(cuda.cuCtxSetCurrent)) {
    error_ = function_at<int(void **)>(cuda.cuCtxGetCurrent)(&former_);
    if (error_ == 0 && former_ != cuda.context) {
      error_ = set_(cuda.context);
      is_other_ = error_ == 0;
    }
  }
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;
  ~Current() {
    if (is_other_)
      set_(former_);
  }

  /// 0, or what kept the context from being the thread's.
  int error() const { return error_; }

private:
  int (*const set_)(void *);
  void *former_ = nullptr;
  int error_ = 0;
  bool is_other_ = false;
};

int launch(void *context, const xiokv_copier_launch *argument,
           uint32_t groups) {
  using Launch =
      int(void *function, unsigned, unsigned, unsigned, unsigned, unsigned,
          unsigned, unsigned, void *stream, void **arguments, void **extra);
  const xiokv_copier_cuda &cuda = cuda_at(context);
  const Current current(cuda);
  if (current.error() != 0)
    return current.error();
  void *arguments[] = {const_cast<xiokv_copier_launch *>(argument)};
  return function_at<Launch>(cuda.cuLaunchKernel)(
      cuda.function, groups, 1, 1, cuda.lanes, 1, 1, 0, cuda.stream, arguments,
      nullptr);
}

/// Memory that the library does not know is the host's, and of unknown extent.
int locate(void *context, uint64_t address, xiokv_copier_range *range) {
  using Attributes = int(unsigned, const int *, void **, unsigned long long);
  unsigned type = 0, managed = 0;
  unsigned long long start = 0;
  size_t size = 0;
  const int wanted[] = {memory_type, is_managed, range_start, range_size};
  void *found[] = {&type, &managed, &start, &size};
  const xiokv_copier_cuda &cuda = cuda_at(context);
  const Current current(cuda);
  if (current.error() != 0)
    return current.error();
  const int error = function_at<Attributes>(cuda.cuPointerGetAttributes)(
      4, wanted, found, address);
  if (error != 0)
    return error;
  range->is_device = type == device_memory && managed == 0;
  const bool known = type != 0 && size != 0;
  range->is_known = known;
  range->first = known ? start : address / page_bytes * page_bytes;
  range->bytes = known ? size : page_bytes;
  return 0;
}

} // namespace

void xiokv_copier_cuda_vendor(xiokv_copier_cuda *cuda,
                              xiokv_copier_vendor *vendor) {
  *vendor = {cuda, launch, locate};
}
