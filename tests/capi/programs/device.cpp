// SPDX-License-Identifier: MIT
/// @file
/// @brief A program in C++ on a namespace that is passed through: what stands
/// in for ioctl(2) is in front of the embedded controller.

#include <errno.h>

#include <string>
#include <thread>
#include <vector>

#include "programs.h"

extern "C" {
void standin_begin(xiokv_emu *controller);
void standin_fail(int code);
void standin_hold(int hold);
int standin_ioctl(int fd, unsigned long request, void *argument);
}

namespace {

constexpr const char *path = "/dev/null"; // a device that anyone may open

xiokv_device_config through_standin() {
  xiokv_device_config config = {};
  config.struct_size = sizeof config;
  config.queues = 4;
  config.ioctl = standin_ioctl;
  return config;
}

xiokv_ctx *attach(const xiokv_attach_config *config = nullptr) {
  const xiokv_device_config device = through_standin();
  xiokv_module *module;
  xiokv_ctx *ctx;
  CHECK(xiokv_load(nullptr, &module) == 0);
  CHECK(xiokv_attach_device(module, path, &device, config, &ctx) == 0);
  CHECK(xiokv_unload(module) == 0);
  return ctx;
}

void calls() {
  xiokv_ctx *const ctx = attach();
  run_calls(ctx);
  CHECK(xiokv_detach(ctx) == 0);
}

void a_device_by_itself() {
  const xiokv_device_config config = through_standin();
  xiokv_device_counters counters;
  xiokv_controller controller;
  xiokv_module *module;
  xiokv_device *device;
  xiokv_ctx *ctx;
  CHECK(xiokv_device_open(path, &config, &device) == 0);
  CHECK(xiokv_device_nsid(device) == 7);
  CHECK(xiokv_device_controller(device, &controller) == 0);
  CHECK(xiokv_load(nullptr, &module) == 0);
  CHECK(xiokv_attach(module, &controller, nullptr, &ctx) == 0);
  CHECK_REFUSED(xiokv_device_close(device), XIOKV_E_BUSY, "detach");
  const xiokv_key key = make_key("a");
  const xiokv_request request = make_request(&key, 1);
  standin_fail(ENODEV);
  xiokv_result result;
  CHECK(xiokv_exist(ctx, &request, &result) == 1);
  CHECK(result.outcome == XIOKV_OUTCOME_ERROR && result.status == 0x06);
  standin_fail(0);
  CHECK(xiokv_device_count(device, &counters) == 0);
  CHECK(counters.failures == 1 && counters.last_errno == ENODEV);
  CHECK(counters.commands == 1 && counters.completions == 1);
  for (uint64_t count = 2; count < 500; ++count) {
    CHECK(xiokv_exist(ctx, &request, nullptr) == 1);
    CHECK(xiokv_device_count(device, &counters) == 0);
    CHECK(counters.commands == count && counters.completions == count);
  }
  CHECK(xiokv_device_reset(device) == 0); // takes the queues away
  CHECK(xiokv_confirm_deleted(ctx) == 0);
  CHECK(xiokv_reset(ctx) == 0);
  CHECK(xiokv_exist(ctx, &request, nullptr) == 1);
  CHECK(xiokv_detach(ctx) == 0);
  CHECK(xiokv_device_close(device) == 0);
  CHECK(xiokv_device_close(device) == XIOKV_E_HANDLE);
  CHECK(xiokv_unload(module) == 0);
}

void a_device_that_hangs() {
  xiokv_attach_config config = {};
  config.struct_size = sizeof config;
  config.timeout_ns = 50 * MS;
  xiokv_ctx *const ctx = attach(&config);
  const xiokv_key key = make_key("a");
  const xiokv_request request = make_request(&key, 1);
  xiokv_result result;
  standin_hold(1);
  CHECK(xiokv_exist(ctx, &request, &result) == 1);
  CHECK(result.outcome == XIOKV_OUTCOME_TIMEOUT);
  CHECK(xiokv_exist(ctx, &request, &result) == XIOKV_E_DEAD_QUEUE);
  standin_hold(0);
  CHECK(xiokv_reset(ctx) == 0);
  CHECK(xiokv_exist(ctx, &request, &result) == 1);
  CHECK(result.outcome == XIOKV_OUTCOME_MISSING);
  CHECK(xiokv_detach(ctx) == 0);
}

void what_is_no_namespace() {
  xiokv_device_config config = {};
  config.struct_size = sizeof config;
  xiokv_device *device;
  CHECK_REFUSED(xiokv_device_open("/dev/ng99n1", &config, &device),
                XIOKV_E_MISSING, "/dev/ng<controller>n<number>");
  CHECK_REFUSED(xiokv_device_open(path, &config, &device), XIOKV_E_DEVICE,
                "is no NVMe namespace");
  CHECK_REFUSED(xiokv_device_open("/etc/passwd", nullptr, &device),
                XIOKV_E_DEVICE, "is no character device");
  CHECK_REFUSED(xiokv_device_open(nullptr, nullptr, &device), XIOKV_E_ARGUMENT,
                "path");
  config.threads = 1025;
  CHECK_REFUSED(xiokv_device_open(path, &config, &device), XIOKV_E_DEVICE, "");
}

/// Threads with blocks of their own, on one context.
void many_threads() {
  constexpr size_t threads = 4, rounds = 10, keys = 30, block = 256;
  xiokv_attach_config config = {};
  config.struct_size = sizeof config;
  config.queues = 2;
  xiokv_ctx *const ctx = attach(&config);
  const auto work = [&](size_t number) {
    std::vector<xiokv_key> names;
    for (size_t i = 0; i < keys; ++i)
      names.push_back(
          make_key((std::to_string(number) + "/" + std::to_string(i)).c_str()));
    std::vector<unsigned char> stored(keys * block), out(keys * block);
    std::vector<xiokv_result> results(keys);
    xiokv_stream *stream;
    CHECK(xiokv_stream_create(&stream) == 0);
    CHECK(xiokv_make_current(ctx, block) == 0);
    for (size_t round = 0; round < rounds; ++round) {
      for (size_t i = 0; i < stored.size(); ++i)
        stored[i] = static_cast<unsigned char>(i / block + round + number);
      xiokv_request request =
          make_values(names.data(), keys, stored.data(), stored.size());
      request.stream = round % 2 != 0 ? stream : nullptr;
      CHECK(xiokv_store(ctx, &request, nullptr) == 0);
      void *const in = round % 3 != 0 ? stream : nullptr;
      CHECK(xio_batched_kv_retrieve(names.data(), keys, out.data(), in) == 0);
      CHECK(xiokv_wait(ctx, results.data(), keys) == 0);
      CHECK(out == stored);
    }
    CHECK(xiokv_stream_destroy(stream) == 0);
  };
  std::vector<std::thread> running;
  for (size_t number = 0; number < threads; ++number)
    running.emplace_back(work, number);
  for (std::thread &thread : running)
    thread.join();
  CHECK(xiokv_detach(ctx) == 0);
}

template <class Part> void on_standin(Part part) {
  xiokv_emu *const emu = make_emulator();
  standin_begin(emu);
  part();
  xiokv_emu_destroy(emu);
}

} // namespace

int main() {
  on_standin(calls);
  on_standin(a_device_by_itself);
  on_standin(a_device_that_hangs);
  on_standin(what_is_no_namespace);
  on_standin(many_threads);
  puts("device");
}
