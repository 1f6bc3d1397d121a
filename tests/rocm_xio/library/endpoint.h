// A public header of the stand-in, which includes the generated one.
#pragma once
#include "nvme-kv.h"

struct nvme_sqe endpoint_retrieve(const uint32_t key[4], uint32_t key_len);
