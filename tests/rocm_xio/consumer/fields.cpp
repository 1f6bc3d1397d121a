// The functions of the fields that test_fields.py declares, for any 64 bytes.
#include "nvme-kv.h"

#define FIELD(name, Name)                                                      \
  extern "C" bool set_##name(void *entry, uint64_t value) {                    \
    return kvSqeSet##Name(static_cast<struct nvme_sqe *>(entry), value);       \
  }                                                                            \
  extern "C" uint32_t get_##name(const void *entry) {                          \
    return kvSqeGet##Name(static_cast<const struct nvme_sqe *>(entry));        \
  }

FIELD(high, High)
FIELD(whole_dword, WholeDword)
FIELD(one_bit, OneBit)
FIELD(rest, Rest)

extern "C" void setup_exec(void *entry, uint32_t length, uint32_t osize,
                           uint32_t op_id) {
  kvExecSqeSetup(static_cast<struct nvme_sqe *>(entry), length, osize, op_id);
}
