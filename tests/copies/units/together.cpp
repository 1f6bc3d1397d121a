// SPDX-License-Identifier: MIT
/// @file
/// @brief All copies in one unit, their headers in between each other: an entry
/// and the words of each, and what the units that it is linked with say.
#include "acme/kv/kv_macros.h"
#include "xiokv/kv_commands.h"

#include "acme/kv/kv_commands.h"
#include "storage_team/kv_operation.h"

#include "acme/kv/kv_exec.h"
#include "acme/kv/kv_operation.h"
#include "storage_team/kv_engine.h"
#include "xiokv/kv_engine.h"
#include "xiokv/kv_operation.h"

#include "acme/kv/kv_engine.h"
#include "storage_team/kv_commands.h"

#include <cstdio>
#include <type_traits>

#include "copies.h"

static_assert(!std::is_same_v<xiokv_sqe, acme::kv::xiokv_sqe>);
static_assert(!std::is_same_v<acme::kv::xiokv_sqe, storage_team::xiokv_sqe>);
static_assert(sizeof(xiokv_batch) == sizeof(acme::kv::xiokv_batch));
static_assert(XIOKV_KEY_MAX_LEN == ACME_KV_KEY_MAX_LEN);
static_assert(XIOKV_KEY_MAX_LEN == STORAGE_TEAM_KEY_MAX_LEN);

template <class Entry> static void print(int error, const Entry &sqe) {
  if (error)
    printf("error %d", error);
  for (const uint32_t dword : sqe.dw)
    for (int byte = 0; byte < 4; ++byte)
      printf("%02x", dword >> (8 * byte) & 0xff);
  printf("\n");
}

int main() {
  xiokv_sqe plain;
  print(xiokv_encode_store(&plain, nullptr, 7, "block-17", 8, 4096,
                           XIOKV_STORE_DONT_COMPRESS),
        plain);
  acme::kv::xiokv_sqe acme;
  print(acme::kv::xiokv_encode_store(&acme, nullptr, 7, "block-17", 8, 4096,
                                     acme::kv::XIOKV_STORE_DONT_COMPRESS, 5, 3),
        acme);
  print(acme::kv::xiokv_encode_exec(&acme, nullptr, 7, 8, 24, 512, 2), acme);
  storage_team::xiokv_sqe storage;
  print(storage_team::xiokv_encode_store(
            &storage, nullptr, 7, "block-17", 8, 4096,
            storage_team::XIOKV_STORE_DONT_COMPRESS, 200),
        storage);
  printf("%s %s %s\n",
         acme::kv::xiokv::to_string(acme::kv::xiokv::Operation::EXEC),
         storage_team::xiokv::to_string(storage_team::xiokv::Operation::LIST),
         to_string(xiokv::Operation::EXIST));
  printf("%s %s %s\n", acme_word(0x83), storage_word(0x83), plain_word(0x83));
  printf("%d %d\n", acme_given_up(), storage_given_up());
}
