// SPDX-License-Identifier: MIT
/// @file
/// @brief Instructions that order memory: waits, invalidations, write-backs.
#include "run.h"
#include "table.h"

namespace amdgpu {

namespace {

void wait(Wave &wave, const Instruction &i) {
  wave.run->memory().wait(wave, i);
}

void invalidate(Wave &wave, const Instruction &i) {
  wave.run->memory().invalidate(wave, i);
}

void write_back(Wave &wave, const Instruction &i) {
  wave.run->memory().write_back(wave, i);
}

} // namespace

void add_fences(Table &table) {
  for (const char *name :
       {"s_waitcnt", "s_waitcnt_vscnt", "s_wait_loadcnt", "s_wait_storecnt",
        "s_wait_dscnt", "s_wait_kmcnt", "s_wait_loadcnt_dscnt",
        "s_wait_storecnt_dscnt", "s_wait_samplecnt", "s_wait_bvhcnt",
        "s_wait_expcnt", "s_wait_idle"})
    table[name] = {wait, Shape::wait};
  for (const char *name : {"buffer_wbinvl1_vol", "buffer_invl2", "buffer_inv",
                           "buffer_gl0_inv", "buffer_gl1_inv", "global_inv"})
    table[name] = {invalidate, Shape::cache};
  for (const char *name : {"buffer_wbl2", "global_wb"})
    table[name] = {write_back, Shape::cache};
}

} // namespace amdgpu
