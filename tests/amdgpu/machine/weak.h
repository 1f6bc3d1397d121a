// SPDX-License-Identifier: MIT
/// @file
/// @brief Memory as weak as the architectures allow.
///
/// A vector store waits in its wave until a wait that counts it, or chance,
/// lets it out by dwords, in any order but that of a dword. It is let out to
/// memory on gfx11, to the device's second level cache elsewhere, from where
/// chance or a write-back at system scope takes it on. The dwords of a load are
/// read at moments of chance between the load and its wait, from copies that
/// may be stale unless the load passes by them or an invalidation has come
/// between. LDS has the accesses of a wave in order, at moments of chance until
/// the wait.
#pragma once

#include <memory>

#include "memory.h"

namespace amdgpu {

std::unique_ptr<Memory> make_weak_memory(Run &run);

} // namespace amdgpu
