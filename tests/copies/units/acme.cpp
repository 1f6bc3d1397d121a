// SPDX-License-Identifier: MIT
#define XIOKV_NO_ENTRIES
#include "kernels/kv_kernels.cpp"

#include "acme/kv/kv_operation.h"

#define COPY(name) acme_##name
#define ENGINE
using namespace acme::kv;
#include "unit.h"
