/* Prints the 64 bytes of a Retrieve; read as C11 and, as encode.cpp, as C++17. */
#include <stdio.h>
#include <string.h>

#include "xiokv/kv_commands.h"

int main(void) {
  struct xiokv_ns_data ns;
  struct xiokv_limits limits;
  struct xiokv_sqe sqe;
  memset(&ns, 0, sizeof ns);
  ns.kvf[0].kvkml = 16;
  ns.kvf[0].kvvml = 1 << 20;
  if (xiokv_limits_set(&limits, &ns, 1 << 20))
    return 1;
  if (xiokv_encode_retrieve(&sqe, &limits, 7, "block-17", 8, 4096, 0))
    return 1;
  for (size_t i = 0; i < sizeof sqe; ++i)
    printf("%02x", ((const unsigned char *)&sqe)[i]);
  printf("\n");
  return 0;
}
