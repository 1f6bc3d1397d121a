// SPDX-License-Identifier: MIT
#include <cstdio>

#include "opening.h"

using xiokv::rados::Opening;
using xiokv::rados::Place;
using xiokv::rados::RadosStore;
using xiokv::rados::Refusal;

namespace {

/// @return What `open` does; where it throws, null, and `error` says why.
template <typename Open>
auto or_told(char *error, size_t size, Open open) -> decltype(open()) {
  try {
    return open();
  } catch (const std::exception &failure) {
    if (error && size != 0)
      std::snprintf(error, size, "%s", failure.what());
    return nullptr;
  }
}

xiokv_emu_store *handed_out(std::unique_ptr<RadosStore> store) {
  xiokv::emulator::ValueStore *of_any_kind = store.release();
  return reinterpret_cast<xiokv_emu_store *>(of_any_kind);
}

std::unique_ptr<Opening> taken_back(xiokv_rados_opening *opening) {
  return std::unique_ptr<Opening>(reinterpret_cast<Opening *>(opening));
}

const xiokv_rados_config &given(const xiokv_rados_config *config) {
  if (!config)
    throw Refusal("config is NULL");
  return *config;
}

} // namespace

xiokv_emu_store *xiokv_rados_open(const struct xiokv_rados_config *config,
                                  char *error, size_t error_size) {
  return or_told(error, error_size, [=] {
    return handed_out(std::make_unique<RadosStore>(Place(given(config))));
  });
}

xiokv_rados_opening *xiokv_rados_begin(const struct xiokv_rados_config *config,
                                       char *error, size_t error_size) {
  return or_told(error, error_size, [=] {
    return reinterpret_cast<xiokv_rados_opening *>(new Opening(given(config)));
  });
}

int xiokv_rados_wait(xiokv_rados_opening *opening, uint32_t milliseconds) {
  const std::chrono::milliseconds longest(milliseconds);
  return reinterpret_cast<Opening *>(opening)->wait(longest);
}

xiokv_emu_store *xiokv_rados_end(xiokv_rados_opening *opening, char *error,
                                 size_t error_size) {
  return or_told(error, error_size,
                 [=] { return handed_out(Opening::end(taken_back(opening))); });
}

void xiokv_rados_give_up(xiokv_rados_opening *opening) {
  Opening::give_up(taken_back(opening));
}
