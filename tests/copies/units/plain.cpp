// SPDX-License-Identifier: MIT
#include "xiokv/kv_operation.h"

#define COPY(name) plain_##name
#include "unit.h"
