// SPDX-License-Identifier: MIT
#include "copier.h"

#include <memory>
#include <new>
#include <vector>

#include "copier_channel.h"

using xiokv::gpu::Channel;
using xiokv::gpu::Kernel;
using xiokv::gpu::Places;

struct xiokv_copier {
  xiokv_copier(const xiokv_copier_config &config,
               const xiokv_copier_vendor &vendor)
      : kernel(config, vendor), places(vendor) {
    for (uint32_t number = 0; number < config.channels; ++number)
      channels.push_back(std::make_unique<Channel>(kernel, places, number));
  }

  Kernel kernel;
  Places places;
  std::vector<std::unique_ptr<Channel>> channels;
};

namespace {

/// Threads count up, so that those of a controller come to different channels.
Channel &channel_of_thread(xiokv_copier &copier) {
  static std::atomic<uint32_t> threads{0};
  static thread_local const uint32_t number = threads++;
  return *copier.channels[number % copier.channels.size()];
}

xiokv_copier &copier_at(void *context) {
  return *static_cast<xiokv_copier *>(context);
}

bool is_power_of_two(uint32_t number) {
  return number != 0 && (number & (number - 1)) == 0;
}

bool is_allowed(const xiokv_copier_config &config) {
  return config.struct_size == sizeof config && config.channels != 0 &&
         is_power_of_two(config.slots) && is_power_of_two(config.groups) &&
         config.memory != nullptr;
}

} // namespace

uint64_t xiokv_copier_bytes(uint32_t channels, uint32_t slots,
                            uint32_t groups) {
  return xiokv::gpu::Layout(slots, groups).bytes(channels);
}

xiokv_copier *xiokv_copier_create(const xiokv_copier_config *config,
                                  const xiokv_copier_vendor *vendor) {
  if (!is_allowed(*config))
    return nullptr;
  try {
    return new xiokv_copier(*config, *vendor);
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

void xiokv_copier_stop(xiokv_copier *copier) { copier->kernel.stop(); }

void xiokv_copier_destroy(xiokv_copier *copier) { delete copier; }

uint64_t xiokv_copier_launches(const xiokv_copier *copier) {
  return copier->kernel.launches();
}

void xiokv_copier_wake(xiokv_copier *copier) { copier->kernel.wake(); }

void xiokv_copier_note(xiokv_copier *copier, uint64_t first, uint64_t bytes,
                       uint32_t is_device) {
  copier->places.note({first, bytes, is_device, 1});
}

void xiokv_copier_forget(xiokv_copier *copier) { copier->places.forget(); }

int xiokv_copier_read(void *context, uint64_t address, void *buffer,
                      uint64_t bytes) {
  xiokv_copier &copier = copier_at(context);
  return channel_of_thread(copier).read(address, buffer, bytes) ? 0 : -1;
}

int xiokv_copier_write(void *context, uint64_t address, const void *buffer,
                       uint64_t bytes) {
  xiokv_copier &copier = copier_at(context);
  return channel_of_thread(copier).write(address, buffer, bytes) ? 0 : -1;
}

int xiokv_copier_flush(void *context) {
  return channel_of_thread(copier_at(context)).flush() ? 0 : -1;
}
