// SPDX-License-Identifier: MIT
/// @file
/// @brief Scalar instructions that steer: branches, barriers, the clock.
#include <string>

#include "run.h"
#include "table.h"

namespace amdgpu {

namespace {

void nothing(Wave &, const Instruction &) {}

void end(Wave &wave, const Instruction &) { wave.run->end(wave); }

void pause(Wave &wave, const Instruction &) { wave.pausing = true; }

void trap(Wave &, const Instruction &) { throw Fault("trap"); }

void jump(Wave &wave, const Instruction &i) {
  wave.pc = static_cast<uint64_t>(i.immediate);
}

bool code_is_0(const Wave &wave) { return !wave.scc; }
bool code_is_1(const Wave &wave) { return wave.scc; }
bool no_vcc(const Wave &wave) {
  Operand vcc;
  vcc.kind = Operand::Kind::scalar;
  vcc.index = register_vcc;
  return wave.mask(vcc) == 0;
}
bool some_vcc(const Wave &wave) { return !no_vcc(wave); }
bool no_exec(const Wave &wave) { return wave.exec() == 0; }
bool some_exec(const Wave &wave) { return wave.exec() != 0; }

template <bool (*condition)(const Wave &)>
void jump_if(Wave &wave, const Instruction &i) {
  if (condition(wave))
    jump(wave, i);
}

/// The address in memory of what follows an instruction.
uint64_t next_address(const Wave &wave, const Instruction &i) {
  return reinterpret_cast<uint64_t>(wave.run->image().elf().base()) +
         i.address + i.bytes;
}

void get_pc(Wave &wave, const Instruction &i) {
  wave.set_scalar(i.target, next_address(wave, i));
}

void jump_to(Wave &wave, uint64_t address) {
  Image &image = wave.run->image();
  wave.pc =
      image.index_of(address - reinterpret_cast<uint64_t>(image.elf().base()));
}

void set_pc(Wave &wave, const Instruction &i) {
  jump_to(wave, wave.scalar<uint64_t>(i.source[0]));
}

void swap_pc(Wave &wave, const Instruction &i) {
  const auto to = wave.scalar<uint64_t>(i.source[0]);
  get_pc(wave, i);
  jump_to(wave, to);
}

void call(Wave &wave, const Instruction &i) {
  get_pc(wave, i);
  jump(wave, i);
}

void barrier(Wave &wave, const Instruction &) {
  wave.run->signal_barrier(wave);
  wave.run->wait_barrier(wave);
}
void barrier_signal(Wave &wave, const Instruction &) {
  wave.run->signal_barrier(wave);
}
void barrier_wait(Wave &wave, const Instruction &) {
  wave.run->wait_barrier(wave);
}

void clock(Wave &wave, const Instruction &i) {
  wave.run->memory().scalar_result(wave, i, wave.run->clock());
}

/// A register of the hardware: the cycle counter runs, all others are 0.
void get_hardware(Wave &wave, const Instruction &i) {
  const uint64_t bits = wave.run->clock() & static_cast<uint64_t>(i.immediate);
  wave.set_scalar(i.target, static_cast<uint32_t>(bits));
}

void add_jumps(Table &table) {
  table["s_branch"] = {jump, Shape::jump};
  table["s_cbranch_scc0"] = {jump_if<code_is_0>, Shape::jump};
  table["s_cbranch_scc1"] = {jump_if<code_is_1>, Shape::jump};
  table["s_cbranch_vccz"] = {jump_if<no_vcc>, Shape::jump};
  table["s_cbranch_vccnz"] = {jump_if<some_vcc>, Shape::jump};
  table["s_cbranch_execz"] = {jump_if<no_exec>, Shape::jump};
  table["s_cbranch_execnz"] = {jump_if<some_exec>, Shape::jump};
  table["s_call_b64"] = {call, Shape::link};
  table["s_getpc_b64"] = {get_pc};
  table["s_setpc_b64"] = {set_pc, Shape::sources};
  table["s_swappc_b64"] = {swap_pc};
}

} // namespace

void add_scalar_control(Table &table) {
  add_jumps(table);
  for (const char *name : {"s_nop",
                           "s_clause",
                           "s_delay_alu",
                           "s_sendmsg",
                           "s_setprio",
                           "s_set_inst_prefetch_distance",
                           "s_inst_prefetch",
                           "s_icache_inv",
                           "s_dcache_inv",
                           "s_waitcnt_depctr",
                           "s_wait_alu",
                           "s_code_end",
                           "s_sethalt",
                           "s_wakeup",
                           "s_denorm_mode",
                           "s_round_mode",
                           "s_setreg_b32",
                           "s_setreg_imm32_b32",
                           "s_version",
                           "s_sleep_var",
                           "v_nop"})
    table[name] = {nothing, Shape::ignored};
  table["s_endpgm"] = {end, Shape::ignored};
  table["s_sleep"] = {pause, Shape::ignored};
  table["s_trap"] = {trap, Shape::ignored};
  table["s_barrier"] = {barrier, Shape::ignored};
  table["s_barrier_signal"] = {barrier_signal, Shape::ignored};
  table["s_barrier_wait"] = {barrier_wait, Shape::ignored};
  for (const char *name : {"s_memrealtime", "s_memtime"})
    table[name] = {clock};
  for (const char *name : {"s_sendmsg_rtn_b32", "s_sendmsg_rtn_b64"})
    table[name] = {clock, Shape::message};
  table["s_getreg_b32"] = {get_hardware, Shape::hardware};
}

} // namespace amdgpu
