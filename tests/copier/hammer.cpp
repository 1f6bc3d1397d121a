// SPDX-License-Identifier: MIT
/// @file
/// @brief Threads that copy through one copier whose kernel runs on threads,
/// with leases of microseconds; built under sanitisers.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "copier.h"
#include "copier_ring.h"

extern "C" void xiokv_kernel_copier(const xiokv_copier_launch *launch,
                                    uint32_t group);

namespace {

constexpr uint32_t channels = 2, slots = 8, groups = 2, workers = 4;
constexpr uint64_t page = 4096, share = 64 * page;

/// The device: its memory, and a stream of launches.
struct Device {
  std::vector<uint8_t> memory = std::vector<uint8_t>(workers * share);
  std::thread stream;

  uint64_t begin() const { return reinterpret_cast<uint64_t>(memory.data()); }
};

int launch(void *context, const xiokv_copier_launch *argument,
           uint32_t groups) {
  Device &device = *static_cast<Device *>(context);
  std::thread before;
  before.swap(device.stream);
  device.stream = std::thread(
      [groups, launch = *argument](std::thread earlier) {
        if (earlier.joinable())
          earlier.join();
        std::vector<std::thread> running;
        for (uint32_t group = 0; group < groups; ++group)
          running.emplace_back(
              [&launch, group] { xiokv_kernel_copier(&launch, group); });
        for (std::thread &thread : running)
          thread.join();
      },
      std::move(before));
  return 0;
}

int locate(void *context, uint64_t address, xiokv_copier_range *range) {
  const Device &device = *static_cast<const Device *>(context);
  const bool is_far = address - device.begin() < device.memory.size();
  range->first = is_far ? device.begin() : address / page * page;
  range->bytes = is_far ? device.memory.size() : page;
  range->is_device = is_far;
  return 0;
}

void require(bool holds) {
  if (!holds)
    std::abort();
}

/// Writes and reads a part of the device's memory that is this thread's alone.
void work(xiokv_copier *copier, uint64_t at, uint32_t seed, uint32_t rounds) {
  std::vector<uint8_t> data(5 * page), back(data.size());
  for (uint32_t round = 0; round < rounds; ++round) {
    for (uint8_t &byte : data)
      byte = static_cast<uint8_t>((seed = seed * 1664525 + 1013904223) >> 24);
    const uint64_t offset = seed % (share - data.size());
    const uint64_t size = seed % data.size();
    require(xiokv_copier_write(copier, at + offset, data.data(), size) == 0);
    require(xiokv_copier_flush(copier) == 0);
    require(xiokv_copier_read(copier, at + offset, back.data(), size) == 0);
    require(std::memcmp(data.data(), back.data(), size) == 0);
  }
}

} // namespace

int main(int, char **arguments) {
  Device device;
  const uint64_t bytes = xiokv_copier_bytes(channels, slots, groups);
  void *memory = std::aligned_alloc(page, bytes);
  xiokv_copier_config config = {};
  config.struct_size = sizeof config;
  config.channels = channels;
  config.slots = slots;
  config.groups = groups;
  config.memory = memory;
  config.device_memory = reinterpret_cast<uint64_t>(memory);
  config.lease = config.term = 200'000;
  config.patience = 60'000'000'000;
  const xiokv_copier_vendor vendor = {&device, launch, locate};
  xiokv_copier *copier = xiokv_copier_create(&config, &vendor);
  require(copier != nullptr);
  const uint32_t rounds = static_cast<uint32_t>(std::atoi(arguments[1]));
  std::vector<std::thread> threads;
  for (uint32_t number = 0; number < workers; ++number)
    threads.emplace_back(work, copier, device.begin() + number * share, number,
                         rounds);
  for (std::thread &thread : threads)
    thread.join();
  xiokv_copier_stop(copier);
  device.stream.join();
  std::printf("%llu\n",
              static_cast<unsigned long long>(xiokv_copier_launches(copier)));
  xiokv_copier_destroy(copier);
  std::free(memory);
}
