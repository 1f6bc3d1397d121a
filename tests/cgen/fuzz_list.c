// SPDX-License-Identifier: MIT
/// @file
/// @brief Walks random and damaged List pages that end where their memory ends:
/// run under the address and undefined-behaviour sanitisers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xiokv/kv_commands.h"

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint32_t next_random(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 32);
}

// Mostly plausible entries, so that a walk gets past the first key.
static void fill(uint8_t *page, size_t size) {
  size_t at;

  for (at = 0; at < size; at++)
    page[at] = (uint8_t)(next_random() % 4u ? next_random() % 18u : 0u);
  if (size >= 4u && next_random() % 2u)
    memset(page + 1, 0, 3);
}

static uint32_t walk(const uint8_t *page, size_t size) {
  struct xiokv_list_page list;
  struct xiokv_key key;
  uint32_t keys = 0;

  if (xiokv_list_begin(&list, page, size))
    return 0;
  while (xiokv_list_next(&list, &key) == 1) {
    if (key.length < 1u || key.length > 16u || list.offset > size)
      abort();
    keys++;
  }
  return keys;
}

int main(void) {
  uint64_t keys = 0;
  int round;

  for (round = 0; round < 200000; round++) {
    const size_t size = next_random() % 80u;
    uint8_t *page = (uint8_t *)malloc(size ? size : 1u);

    if (!page)
      return 1;
    fill(page, size);
    keys += walk(page, size);
    free(page);
  }
  printf("%llu\n", (unsigned long long)keys);
  return 0;
}
