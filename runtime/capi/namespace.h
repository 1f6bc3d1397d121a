// SPDX-License-Identifier: MIT
/// @file
/// @brief A namespace's character device: found, checked and opened. What is in
/// use, or is no such device, is refused before anything is sent to it.
#pragma once

#include <cstdint>
#include <string>

#include "xiokv.h"

namespace xiokv::host {

/// @brief An open namespace; it closes its file.
class Namespace {
public:
  /// @brief Open one that nobody has mounted; a Fault where it is none.
  /// @param path Its character device.
  /// @param mounts A file that names what is in use, a device at the start of a
  /// line; NULL: those of the system.
  /// @param ioctl In place of ioctl(2); NULL: that.
  Namespace(std::string path, const char *mounts, xiokv_ioctl ioctl);
  Namespace(const Namespace &) = delete;
  Namespace &operator=(const Namespace &) = delete;
  ~Namespace();

  /// @brief Close the file; twice is once.
  void close_file();

  const std::string &path() const { return path_; }
  int fd() const { return fd_; } ///< -1 once it is closed.
  uint32_t nsid() const { return nsid_; }

private:
  const std::string path_;
  int fd_ = -1;
  uint32_t nsid_ = 0;
};

} // namespace xiokv::host
