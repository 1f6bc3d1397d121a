// SPDX-License-Identifier: MIT
/// @file
/// @brief The engine's platform on the workgroup simulator.
#pragma once

#include <string.h>

#include "fibers.h"

#define XIOKV_DEVICE static inline
#define XIOKV_CONSTANT
#define XIOKV_NO_UNROLL
#define XIOKV_SHARED_VARIABLE(type, name)                                      \
  type &name = fibers::shared<type>(#name)

// The shape of the workgroup is the test's choice, at compile time.
#define XIOKV_LANES (SIMULATED_LANES)
#define XIOKV_WAVES (SIMULATED_LANES / SIMULATED_WAVE)
#define XIOKV_SHARED_WINDOW (SIMULATED_SHARED_WINDOW)
#define XIOKV_EARLY_ACQUIRE (SIMULATED_EARLY_ACQUIRE)
#define XIOKV_SERIAL_LOADS (SIMULATED_EARLY_ACQUIRE)

#define XIOKV_DEFINE_KERNEL(command)                                           \
  extern "C" void xiokv_batch_##command(const xiokv_batch *batch,              \
                                        uint32_t number) {                     \
    xiokv_run_batch<xiokv_op_##command>(*batch, number);                       \
  }

XIOKV_DEVICE uint32_t xiokv_lane() { return fibers::world->lane().index; }
XIOKV_DEVICE uint32_t xiokv_wave_width() { return SIMULATED_WAVE; }
XIOKV_DEVICE uint32_t xiokv_wave() { return xiokv_lane() / SIMULATED_WAVE; }
XIOKV_DEVICE uint32_t xiokv_wave_lane() {
  return xiokv_lane() % SIMULATED_WAVE;
}
XIOKV_DEVICE uint64_t xiokv_ballot(bool vote) {
  return fibers::world->ballot(vote);
}
XIOKV_DEVICE uint32_t xiokv_first_lane(uint32_t value) {
  return static_cast<uint32_t>(fibers::world->broadcast(value));
}
XIOKV_DEVICE uint32_t xiokv_uniform(uint32_t value) { return value; }
template <class Arguments>
XIOKV_DEVICE const Arguments *xiokv_anew(const Arguments *arguments) {
  return arguments;
}
XIOKV_DEVICE void xiokv_barrier() { fibers::world->barrier(); }
XIOKV_DEVICE void xiokv_wave_barrier() { fibers::world->ballot(true); }
XIOKV_DEVICE void xiokv_release_system() {
#ifndef BROKEN_NO_RELEASE
  fibers::world->drain(fibers::world->lane());
#endif
  fibers::world->yield();
  if (XIOKV_EARLY_ACQUIRE)
    fibers::world->acquire();
}
XIOKV_DEVICE void xiokv_acquire_system() {
  fibers::world->yield();
  fibers::world->acquire();
}

/// @brief Four loads, in random order, with other events in between.
XIOKV_DEVICE xiokv_words xiokv_load16(const void *address) {
  xiokv_words words;
  const uint32_t *from = static_cast<const uint32_t *>(address);
  const uint32_t first = fibers::world->below(4);
  for (uint32_t i = 0; i < 4; ++i) {
    if (fibers::world->below(4) == 0)
      fibers::world->yield();
    words.word[(first + i) % 4] = fibers::world->load(from + (first + i) % 4);
  }
  return words;
}

XIOKV_DEVICE xiokv_words xiokv_load16_if(bool condition, const void *address) {
  return condition ? xiokv_load16(address) : xiokv_words{};
}

XIOKV_DEVICE xiokv_words xiokv_read16_if(bool condition, const void *address) {
  return condition ? *static_cast<const xiokv_words *>(address) : xiokv_words{};
}

XIOKV_DEVICE uint32_t xiokv_acquire32_if(bool condition, const void *address,
                                         uint32_t dword) {
  fibers::world->yield();
  if (!condition)
    return 0;
  const uint32_t word = static_cast<const volatile uint32_t *>(address)[dword];
  fibers::world->acquire();
  return word;
}

XIOKV_DEVICE uint32_t xiokv_peek32_if(bool condition, const void *address,
                                      uint32_t dword) {
  const xiokv_words words = xiokv_load16_if(condition, address);
  return dword == 3 ? words.word[3] : words.word[0];
}

XIOKV_DEVICE xiokv_words xiokv_hold(const xiokv_words &words, uint32_t) {
  return words;
}

XIOKV_DEVICE void xiokv_store16(void *address, xiokv_words words) {
  fibers::world->yield();
  for (uint32_t i = 0; i < 4; ++i)
    fibers::world->store(static_cast<uint32_t *>(address) + i, &words.word[i],
                         sizeof words.word[i]);
}

XIOKV_DEVICE void xiokv_store64(void *address, uint64_t value) {
  fibers::world->store(address, &value, sizeof value);
}

XIOKV_DEVICE void xiokv_store32(void *address, uint32_t value) {
  fibers::world->yield();
  fibers::world->store(address, &value, sizeof value);
}

XIOKV_DEVICE uint32_t xiokv_shared_add(uint32_t *address, uint32_t value) {
  fibers::world->yield();
  const uint32_t old = *address;
  *address = old + value;
  return old;
}

XIOKV_DEVICE bool xiokv_shared_swap_if(uint32_t *address, uint32_t expected,
                                       uint32_t value) {
  fibers::world->yield();
  if (*address != expected)
    return false;
  *address = value;
  return true;
}

XIOKV_DEVICE uint32_t xiokv_device_add32(uint32_t *address, uint32_t value) {
  return xiokv_shared_add(address, value);
}

XIOKV_DEVICE uint64_t xiokv_device_add64(uint64_t *address, uint64_t value) {
  fibers::world->yield();
  const uint64_t old = *address;
  *address = old + value;
  return old;
}

XIOKV_DEVICE uint64_t xiokv_clock() { return fibers::world->now; }
XIOKV_DEVICE void xiokv_pause(uint32_t = 1, uint32_t = 0, uint32_t = 1) {
  fibers::world->yield();
}
