// Copied by `xiokv-gen build` from the static templates of xiokv; do not edit.
// clang-format off
// SPDX-License-Identifier: MIT
/// @file
/// @brief The engine's platform on a CPU: one lane a workgroup, a thread each.
///
/// Ring words are accessed with atomics of the C++ memory model, so that
/// ThreadSanitizer sees the ordering that the hardware is asked for. A 16-byte
/// load is two 8-byte ones, the half with the phase bit first and acquiring.
#pragma once

#include <sched.h>
#include <string.h>
#include <time.h>

#define XIOKV_DEVICE static inline __attribute__((always_inline))
#define XIOKV_NO_UNROLL
#define XIOKV_SHARED_VARIABLE(type, name) type name
#define XIOKV_CONSTANT
#define XIOKV_LANES 1u
#define XIOKV_WAVES 1u
#define XIOKV_SHARED_WINDOW 0u
#define XIOKV_EARLY_ACQUIRE 0
#define XIOKV_SERIAL_LOADS 0

XIOKV_DEVICE uint32_t xiokv_lane() { return 0; }
XIOKV_DEVICE uint32_t xiokv_wave() { return 0; }
XIOKV_DEVICE uint32_t xiokv_wave_lane() { return 0; }
XIOKV_DEVICE uint32_t xiokv_wave_width() { return 1; }
XIOKV_DEVICE uint64_t xiokv_ballot(bool vote) { return vote ? 1 : 0; }
XIOKV_DEVICE uint32_t xiokv_first_lane(uint32_t value) { return value; }
XIOKV_DEVICE uint32_t xiokv_uniform(uint32_t value) { return value; }
template <class Arguments>
XIOKV_DEVICE const Arguments *xiokv_anew(const Arguments *arguments) {
  return arguments;
}
XIOKV_DEVICE void xiokv_barrier() {}
XIOKV_DEVICE void xiokv_wave_barrier() {}

XIOKV_DEVICE void xiokv_release_system() {}
XIOKV_DEVICE void xiokv_acquire_system() {}

XIOKV_DEVICE xiokv_words xiokv_load16(const void *address) {
  const uint64_t *half = static_cast<const uint64_t *>(address);
  uint64_t value[2];
  value[1] = __atomic_load_n(half + 1, __ATOMIC_ACQUIRE);
  value[0] = __atomic_load_n(half, __ATOMIC_RELAXED);
  xiokv_words words;
  memcpy(&words, value, sizeof words);
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
  if (!condition)
    return 0;
  return __atomic_load_n(static_cast<const uint32_t *>(address) + dword,
                         __ATOMIC_ACQUIRE);
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
  memcpy(address, &words, sizeof words);
}

XIOKV_DEVICE void xiokv_store64(void *address, uint64_t value) {
  *static_cast<uint64_t *>(address) = value;
}

XIOKV_DEVICE void xiokv_store32(void *address, uint32_t value) {
  __atomic_store_n(static_cast<uint32_t *>(address), value, __ATOMIC_RELEASE);
}

XIOKV_DEVICE uint32_t xiokv_shared_add(uint32_t *address, uint32_t value) {
  const uint32_t old = *address;
  *address = old + value;
  return old;
}

XIOKV_DEVICE bool xiokv_shared_swap_if(uint32_t *address, uint32_t expected,
                                       uint32_t value) {
  if (*address != expected)
    return false;
  *address = value;
  return true;
}

XIOKV_DEVICE uint32_t xiokv_device_add32(uint32_t *address, uint32_t value) {
  return __atomic_fetch_add(address, value, __ATOMIC_ACQ_REL);
}

XIOKV_DEVICE uint64_t xiokv_device_add64(uint64_t *address, uint64_t value) {
  return __atomic_fetch_add(address, value, __ATOMIC_ACQ_REL);
}

/// @brief Nanoseconds of the monotonic clock.
XIOKV_DEVICE uint64_t xiokv_clock() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<uint64_t>(now.tv_nsec);
}

/// @brief Calls of xiokv_pause for each time that the core is given up.
#define XIOKV_PAUSES_A_YIELD 64u
/// @brief Calls in a row from which on the core is left to others for a while:
/// some ten microseconds, longer than a device near by takes for anything.
/// Where it came to that, the next wait needs half as many, down to the fewest.
#define XIOKV_PAUSES_A_REST 256u
#define XIOKV_FEWEST_PAUSES 4u
#define XIOKV_SHORTEST_REST 20000u  ///< Nanoseconds.
#define XIOKV_LONGEST_REST 1000000u ///< Nanoseconds.

/// @brief The part of the commands in flight for whose completions a thread
/// rests at once: so few that the controller keeps having enough to do.
#define XIOKV_PART_OF_FLIGHT 8u

/// @brief What a thread has seen of its waits; times are nanoseconds.
struct xiokv_patience {
  uint32_t pauses;    ///< Before a wait's first rest.
  uint32_t rests;     ///< Of the wait so far, or of the last one.
  uint32_t completed; ///< Commands of the batch, when the last wait began.
  uint64_t since;     ///< When the first rest of a wait began.
  uint64_t until;     ///< When the last of them ended.
  uint64_t typical;   ///< What recent waits took.
  uint64_t interval;  ///< Between completions, while it waited.
};

XIOKV_DEVICE uint64_t xiokv_of_late(uint64_t before, uint64_t last) {
  return (3 * before + last) / 4;
}

/// @brief Learn from the wait that is over when the next one begins;
/// `completed` counts up in a batch.
XIOKV_DEVICE void xiokv_learn_wait(xiokv_patience &patience,
                                   uint32_t completed) {
  const uint32_t more = completed - patience.completed;
  const uint64_t took = patience.until - patience.since;
  const bool rested = patience.rests != 0;
  const bool same_batch = completed > patience.completed;
  patience.completed = completed;
  patience.rests = 0;
  if (!rested) {
    if (patience.pauses < XIOKV_PAUSES_A_REST)
      patience.pauses *= 2;
    return;
  }
  if (patience.pauses > XIOKV_FEWEST_PAUSES)
    patience.pauses /= 2;
  patience.typical = xiokv_of_late(patience.typical, took);
  if (same_batch)
    patience.interval = xiokv_of_late(patience.interval, took / more);
}

/// @brief How long to sleep at first: for half of what waits took, or longer
/// where in the meantime no more than a part of those in flight complete.
XIOKV_DEVICE uint64_t xiokv_first_rest(const xiokv_patience &patience,
                                       uint32_t in_flight) {
  const uint64_t half = patience.typical / 2;
  const uint64_t part = patience.interval * in_flight / XIOKV_PART_OF_FLIGHT;
  return half > part ? half : part;
}

/// @brief Sleep; not for the first time: for an eighth of what this wait took
/// so far. So much later, at most, is its end seen.
XIOKV_DEVICE void xiokv_sleep(xiokv_patience &patience, uint32_t in_flight) {
  const uint64_t now = xiokv_clock();
  if (patience.rests++ == 0)
    patience.since = now;
  uint64_t time = patience.rests == 1 ? xiokv_first_rest(patience, in_flight)
                                      : (now - patience.since) / 8;
  if (time < XIOKV_SHORTEST_REST)
    time = XIOKV_SHORTEST_REST;
  if (time > XIOKV_LONGEST_REST)
    time = XIOKV_LONGEST_REST;
  const timespec rest = {0, static_cast<long>(time)};
  nanosleep(&rest, nullptr);
  patience.until = xiokv_clock();
}

/// @brief Wait a moment; now and then let another thread have the core, since
/// where cores are few it may be the controller's.
XIOKV_DEVICE void xiokv_pause(uint32_t in_a_row = 1, uint32_t completed = 0,
                              uint32_t in_flight = 1) {
  // Aligned: of a thread's smaller block gcc 12's leak check may take another
  // header for glibc's.
  alignas(64) static thread_local xiokv_patience patience = {
      XIOKV_PAUSES_A_REST, 0, 0, 0, 0, 0, 0};
  if (in_a_row == 1)
    xiokv_learn_wait(patience, completed);
  if (in_a_row >= patience.pauses)
    xiokv_sleep(patience, in_flight);
  else if (in_a_row % XIOKV_PAUSES_A_YIELD == 0)
    sched_yield();
#if defined(__x86_64__)
  else
    __builtin_ia32_pause();
#endif
}

/// @brief The entry of a command: run the batch on its queue `number`.
#define XIOKV_DEFINE_KERNEL(command)                                           \
  extern "C" void xiokv_batch_##command(const xiokv_batch *batch,              \
                                        uint32_t number) {                     \
    xiokv_run_batch<xiokv_op_##command>(*batch, number);                       \
  }
