// SPDX-License-Identifier: MIT
/// @file
/// @brief Nanoseconds an SQE: the generated encoders beside plain hand-written
/// ones, all filling the same ring of 1024 entries with Retrieve commands.
///
/// Arguments: passes over the ring a sample, samples. Output: one JSON object
/// of the samples of each encoder, in nanoseconds an entry. Every encoder must
/// have filled the ring with the same bytes; if not, the exit code is 1.

#define _POSIX_C_SOURCE 199309L

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "xiokv/kv_commands.h"

#define ENTRIES 1024u
#define NSID 1u
#define VALUE_BYTES 4096u

/// A submission queue entry, as one would write it down by hand.
struct entry {
  uint8_t opcode;
  uint8_t flags;
  uint16_t cid;
  uint32_t nsid;
  uint8_t key_low[8];
  uint64_t metadata;
  uint64_t prp1;
  uint64_t prp2;
  uint32_t size;
  uint8_t key_length;
  uint8_t options;
  uint16_t reserved;
  uint64_t semantic;
  uint8_t key_high[8];
};

union slot {
  struct entry hand;
  struct xiokv_sqe sqe;
};

static struct xiokv_key keys[ENTRIES];
static struct xiokv_limits limits = {16, 1u << 20, 0};
static union slot ring[ENTRIES], expected[ENTRIES];
static uint64_t buffer = 0x10000;

/// Keep the compiler from knowing what is in memory.
static void forget(void) { __asm__ volatile("" : : : "memory"); }

static void by_hand(struct entry *entry, const struct xiokv_key *key,
                    uint32_t i) {
  memset(entry, 0, sizeof *entry);
  entry->opcode = 0x02;
  entry->cid = (uint16_t)i;
  entry->nsid = NSID;
  entry->prp1 = buffer + (uint64_t)i * VALUE_BYTES;
  entry->size = VALUE_BYTES;
  entry->key_length = (uint8_t)key->length;
}

/// By hand, for a key that is padded to 16 bytes.
static void hand_padded(uint32_t i) {
  struct entry *entry = &ring[i].hand;

  by_hand(entry, &keys[i], i);
  memcpy(entry->key_low, keys[i].bytes, 8);
  memcpy(entry->key_high, keys[i].bytes + 8, 8);
}

/// By hand, for a key of any length.
static void hand_bytes(uint32_t i) {
  struct entry *entry = &ring[i].hand;
  const uint32_t length = keys[i].length;

  by_hand(entry, &keys[i], i);
  memcpy(entry->key_low, keys[i].bytes, length < 8 ? length : 8);
  if (length > 8)
    memcpy(entry->key_high, keys[i].bytes + 8, length - 8);
}

static void finish(struct xiokv_sqe *sqe, uint32_t i) {
  xiokv_sqe_set_cid(sqe, (uint16_t)i);
  xiokv_sqe_set_prp(sqe, buffer + (uint64_t)i * VALUE_BYTES, 0);
}

static void raw(uint32_t i) {
  const struct xiokv_reserved none = {0, 0, 0};

  ring[i].sqe =
      xiokv_encode_retrieve_raw(NSID, &keys[i], VALUE_BYTES, 0, &none);
  finish(&ring[i].sqe, i);
}

static void packed(uint32_t i) {
  if (xiokv_encode_retrieve_packed(&ring[i].sqe, &limits, NSID, &keys[i],
                                   VALUE_BYTES, 0))
    abort();
  finish(&ring[i].sqe, i);
}

static void checked(uint32_t i) {
  if (xiokv_encode_retrieve(&ring[i].sqe, &limits, NSID, keys[i].bytes,
                            keys[i].length, VALUE_BYTES, 0))
    abort();
  finish(&ring[i].sqe, i);
}

/// A loop of its own for each encoder, so that it is inlined there.
#define FILLER(encoder)                                                        \
  static void fill_##encoder(void) {                                           \
    for (uint32_t i = 0; i < ENTRIES; ++i)                                     \
      encoder(i);                                                              \
    forget();                                                                  \
  }
FILLER(hand_padded)
FILLER(raw)
FILLER(packed)
FILLER(hand_bytes)
FILLER(checked)

static const struct {
  const char *name;
  void (*fill)(void);
} ways[] = {
    {"hand_padded", fill_hand_padded}, {"raw", fill_raw},
    {"packed", fill_packed},           {"hand_bytes", fill_hand_bytes},
    {"checked", fill_checked},
};
enum { WAYS = sizeof ways / sizeof *ways };

/// Nanoseconds that this thread has run: what others do on the machine is not
/// in them.
static double now(void) {
  struct timespec time;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double sample(void (*fill)(void), unsigned passes) {
  const double start = now();

  for (unsigned pass = 0; pass < passes; ++pass)
    fill();
  return (now() - start) / ((double)passes * ENTRIES);
}

/// Keys of one length, padded with zeros.
static void make_keys(void) {
  for (uint32_t i = 0; i < ENTRIES; ++i) {
    const uint32_t words[4] = {i * 2654435761u, i, ~i, i * 40503u};

    if (xiokv_key_set(&keys[i], words, sizeof words))
      abort();
  }
}

/// Whether every encoder fills the ring with the same bytes.
static int agree(void) {
  fill_hand_padded();
  memcpy(expected, ring, sizeof ring);
  for (unsigned way = 0; way < WAYS; ++way) {
    memset(ring, 0xff, sizeof ring);
    ways[way].fill();
    if (memcmp(expected, ring, sizeof ring) != 0) {
      fprintf(stderr, "%s fills the ring otherwise\n", ways[way].name);
      return 0;
    }
  }
  return 1;
}

static void print(const double *taken, unsigned samples) {
  for (unsigned way = 0; way < WAYS; ++way) {
    printf("%s\"%s\": [", way ? ", " : "{", ways[way].name);
    for (unsigned i = 0; i < samples; ++i)
      printf("%s%.4f", i ? ", " : "", taken[i * WAYS + way]);
    printf("]");
  }
  puts("}");
}

int main(int argc, char **argv) {
  const unsigned passes = argc == 3 ? (unsigned)atoi(argv[1]) : 0;
  const unsigned samples = argc == 3 ? (unsigned)atoi(argv[2]) : 0;
  double *taken = calloc(samples * WAYS, sizeof *taken);

  if (passes == 0 || samples == 0 || taken == NULL)
    return 2;
  make_keys();
  if (!agree())
    return 1;
  for (unsigned i = 0; i < samples * WAYS; ++i)
    taken[i] = sample(ways[i % WAYS].fill, passes);
  print(taken, samples);
  free(taken);
  return 0;
}
