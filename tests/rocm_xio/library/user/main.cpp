#include <cstdio>

#include "endpoint.h"

int main() {
  const uint32_t key[4] = {0x636f6c62, 0x37312d6b, 0, 0};
  const struct nvme_sqe sqe = endpoint_retrieve(key, 8);
  std::printf("%02x %08x %u\n", unsigned{sqe.opcode}, sqe.cdw2, sqe.cdw11);
}
