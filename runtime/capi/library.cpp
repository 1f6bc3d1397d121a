// SPDX-License-Identifier: MIT
#include "library.h"

#include <dlfcn.h>

#include "fault.h"

namespace xiokv::host {

namespace {

void *opened(const std::string &path) {
  // What a launch runs stays, also where a caller closes the library too early.
  // Without a slash the system would look elsewhere.
  const std::string place =
      path.find('/') == std::string::npos ? "./" + path : path;
  void *const handle =
      dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr)
    refuse(XIOKV_E_MODULE, "%s cannot be loaded: %s", path.c_str(), dlerror());
  return handle;
}

} // namespace

Library::Library(std::string path)
    : path_(std::move(path)), handle_(opened(path_)) {}

Library::~Library() { dlclose(handle_); }

void *Library::symbol(const char *name) const { return dlsym(handle_, name); }

} // namespace xiokv::host
