// SPDX-License-Identifier: MIT
#include "namespace.h"

#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "fault.h"

namespace xiokv::host {

namespace {

constexpr const char *system_mounts[] = {"/proc/self/mounts", "/proc/swaps"};

/// The path that links lead to, or the path itself.
std::string real_path(const std::string &path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) == nullptr ? path : resolved;
}

/// The numbers of controller and namespace in a device's name.
struct Numbers {
  std::string controller, number;
};

/// Takes digits off the end of a text.
std::string taken_digits(std::string &text) {
  const size_t end = text.find_last_not_of("0123456789") + 1;
  const std::string digits = text.substr(end);
  text.resize(end);
  return digits;
}

bool take_end(std::string &text, const std::string &end) {
  if (text.size() < end.size() ||
      text.compare(text.size() - end.size(), end.size(), end) != 0)
    return false;
  text.resize(text.size() - end.size());
  return true;
}

/// Whether a path ends in a kind of device, such as ng0n1, and which it is.
bool names_device(std::string path, const char *kind, Numbers &numbers) {
  numbers.number = taken_digits(path);
  if (numbers.number.empty() || !take_end(path, "n"))
    return false;
  numbers.controller = taken_digits(path);
  return !numbers.controller.empty() && take_end(path, kind);
}

/// The same for a block device, or a partition of one.
bool names_block_device(std::string path, Numbers &numbers) {
  if (names_device(path, "nvme", numbers))
    return true;
  return !taken_digits(path).empty() && take_end(path, "p") &&
         names_device(path, "nvme", numbers);
}

void check_kind(const std::string &path, const std::string &device) {
  struct stat found;
  if (stat(device.c_str(), &found) != 0)
    refuse(XIOKV_E_MISSING,
           "%s: %s; key-value namespaces are /dev/ng<controller>n<number>, "
           "which Linux makes from 5.13 on (xiokv-gen doctor looks for them)",
           path.c_str(), strerror(errno));
  if (S_ISCHR(found.st_mode))
    return;
  Numbers block;
  std::string hint;
  if (names_block_device(device, block))
    hint = "; its character device is /dev/ng" + block.controller + "n" +
           block.number;
  refuse(XIOKV_E_DEVICE, "%s is no character device%s", path.c_str(),
         hint.c_str());
}

/// Refuse where a line of a file begins with a namespace's block device, or
/// with a part of it.
void check_not_in(const char *file, const std::string &path,
                  const Numbers &wanted) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const std::string used = line.substr(0, line.find_first_of(" \t"));
    Numbers found;
    if (names_block_device(used, found) &&
        found.controller == wanted.controller && found.number == wanted.number)
      refuse(XIOKV_E_DEVICE,
             "%s is in use: %s names %s; unmount it first, if it is the right "
             "one",
             path.c_str(), file, used.c_str());
  }
}

void check_unused(const std::string &path, const std::string &device,
                  const char *mounts) {
  Numbers wanted;
  if (!names_device(device, "ng", wanted))
    return;
  if (mounts != nullptr)
    return check_not_in(mounts, path, wanted);
  for (const char *file : system_mounts)
    check_not_in(file, path, wanted);
}

int open_device(const std::string &path, const std::string &device) {
  const int fd = open(device.c_str(), O_RDWR | O_CLOEXEC);
  if (fd >= 0)
    return fd;
  if (errno == EACCES || errno == EPERM)
    refuse(XIOKV_E_DEVICE,
           "%s may not be opened: passing commands through takes root, or "
           "CAP_SYS_ADMIN and write access to the file",
           path.c_str());
  const bool gone = errno == ENXIO || errno == ENODEV;
  refuse(gone ? XIOKV_E_MISSING : XIOKV_E_DEVICE, "%s cannot be opened: %s",
         path.c_str(), strerror(errno));
}

uint32_t namespace_id(const std::string &path, int fd, xiokv_ioctl call) {
  const int nsid = call != nullptr ? call(fd, NVME_IOCTL_ID, nullptr)
                                   : ioctl(fd, NVME_IOCTL_ID);
  const std::string why = call == nullptr && nsid < 0
                              ? strerror(errno)
                              : "its NSID is " + std::to_string(nsid);
  if (nsid <= 0)
    refuse(XIOKV_E_DEVICE,
           "%s is no NVMe namespace (%s); one is "
           "/dev/ng<controller>n<number>",
           path.c_str(), why.c_str());
  return static_cast<uint32_t>(nsid);
}

} // namespace

Namespace::Namespace(std::string path, const char *mounts, xiokv_ioctl ioctl)
    : path_(std::move(path)) {
  const std::string device = real_path(path_);
  check_unused(path_, device, mounts);
  check_kind(path_, device);
  fd_ = open_device(path_, device);
  try {
    nsid_ = namespace_id(path_, fd_, ioctl);
  } catch (...) {
    close(fd_);
    throw;
  }
}

Namespace::~Namespace() { close_file(); }

void Namespace::close_file() {
  if (fd_ >= 0)
    close(fd_);
  fd_ = -1;
}

} // namespace xiokv::host
