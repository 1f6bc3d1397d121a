// Stands in for the library's header of that name: the entry that it declares.
#pragma once

#include <stdint.h>

struct nvme_sqe {
  uint8_t opcode;
  uint8_t flags;
  uint16_t command_id;
  uint32_t nsid;
  uint32_t cdw2;
  uint32_t cdw3;
  uint64_t metadata;
  union {
    struct {
      uint64_t prp1;
      uint64_t prp2;
    } prp;
    struct {
      uint64_t addr;
      uint32_t length;
      uint32_t key_type;
    } sgl;
  } dptr;
  uint32_t cdw10;
  uint32_t cdw11;
  uint32_t cdw12;
  uint32_t cdw13;
  uint32_t cdw14;
  uint32_t cdw15;
} __attribute__((packed));
