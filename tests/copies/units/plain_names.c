// SPDX-License-Identifier: MIT
/* C sees the plain names, whatever the namespace: functions, types,
 * enumerators. */
#include <stdio.h>
#include <string.h>

#include "acme/kv/kv_exec.h"

static void print(const struct xiokv_sqe *sqe) {
  for (size_t i = 0; i < sizeof *sqe; ++i)
    printf("%02x", ((const unsigned char *)sqe)[i]);
  printf("\n");
}

int main(void) {
  struct xiokv_ns_data ns;
  struct xiokv_limits limits;
  struct xiokv_sqe sqe;
  memset(&ns, 0, sizeof ns);
  ns.kvf[0].kvkml = ACME_KV_KEY_MAX_LEN;
  ns.kvf[0].kvvml = 1 << 20;
  if (xiokv_limits_set(&limits, &ns, 1 << 20) != XIOKV_E_OK)
    return 1;
  if (xiokv_encode_store(&sqe, &limits, 7, "block-17", 8, 4096,
                         XIOKV_STORE_DONT_COMPRESS, 5, 3))
    return 1;
  print(&sqe);
  if (xiokv_encode_exec(&sqe, &limits, 7, 8, 24, 512, 2))
    return 1;
  print(&sqe);
  return 0;
}
