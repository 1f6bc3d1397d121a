// SPDX-License-Identifier: MIT
#include <cstdio>

#include "rados_store.h"

xiokv_emu_store *xiokv_rados_open(const struct xiokv_rados_config *config,
                                  char *error, size_t error_size) {
  using xiokv::emulator::ValueStore;
  using xiokv::rados::Place;
  using xiokv::rados::RadosStore;
  std::string reason = "config is NULL";
  if (config) {
    try {
      ValueStore *store = new RadosStore(Place(*config));
      return reinterpret_cast<xiokv_emu_store *>(store);
    } catch (const std::exception &failure) {
      reason = failure.what();
    }
  }
  if (error && error_size != 0)
    std::snprintf(error, error_size, "%s", reason.c_str());
  return nullptr;
}
