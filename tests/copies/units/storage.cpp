// SPDX-License-Identifier: MIT
#define XIOKV_NO_ENTRIES
#include "kernels/kv_kernels.cpp"

#include "storage_team/kv_operation.h"

#define COPY(name) storage_##name
#define ENGINE
using namespace storage_team;
#include "unit.h"
