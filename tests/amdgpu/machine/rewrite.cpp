// SPDX-License-Identifier: MIT
#include "rewrite.h"

#include "lanes.h"

namespace amdgpu {

namespace {

uint32_t extract(uint32_t value, const Part &part, bool sign_extended) {
  const unsigned unused = 32u - part.bits;
  const uint32_t moved = value >> part.shift << unused;
  return sign_extended
             ? static_cast<uint32_t>(static_cast<int32_t>(moved) >> unused)
             : moved >> unused;
}

/// Puts the changed value of a source into registers of the machine's own.
void prepare(Wave &wave, const Operand &source, const Rewrite &rewrite,
             unsigned n) {
  const Change &change = rewrite.change[n];
  Spread room;
  const Source<uint64_t> whole(wave, source, room);
  const View<uint64_t> view = whole.from(0);
  Lanes &low = wave.v[register_spare + 2 * n];
  Lanes &high = wave.v[register_spare + 2 * n + 1];
  // The sign is in the last word.
  Lanes &last = source.words > 1 ? high : low;
  for (unsigned lane = 0; lane < 64; ++lane) {
    low.lane[lane] = extract(view.low[lane], change.part, change.sign_extended);
    high.lane[lane] = view.high[lane];
    if (change.absolute)
      last.lane[lane] &= 0x7fffffff;
    if (change.negative)
      last.lane[lane] ^= 0x80000000;
  }
}

/// Moves the first source's values; the lanes that may be written then.
uint64_t move(Wave &wave, const Movement &movement) {
  const uint64_t exec = wave.exec();
  Lanes &values = wave.v[register_spare];
  const Lanes old = values;
  uint64_t written = exec & movement.writes;
  for (unsigned lane = 0; lane < wave.width; ++lane) {
    const int from = movement.from[lane];
    const bool there = from >= 0 && (exec >> from & 1);
    values.lane[lane] = there ? old.lane[from] : 0;
    if (!there && !movement.zero_for_none)
      written &= ~(uint64_t(1) << lane);
  }
  return written;
}

/// Makes the target's old value and the result, which is in the register, one.
void merge(Lanes &target, const Lanes &old, const Rewrite &rewrite,
           uint64_t written) {
  const Part &part = rewrite.target;
  const uint32_t mask = ((1u << part.bits) - 1) << part.shift;
  for (unsigned lane = 0; lane < 64; ++lane) {
    if (!(written >> lane & 1))
      continue;
    const uint32_t result = target.lane[lane] << part.shift & mask;
    if (rewrite.rest == Rest::kept)
      target.lane[lane] = result | (old.lane[lane] & ~mask);
    else if (rewrite.rest == Rest::sign &&
             result >> (part.shift + part.bits - 1))
      target.lane[lane] = result | ~(mask | (mask - 1));
    else
      target.lane[lane] = result;
  }
}

} // namespace

void run_dual(Wave &wave, const Instruction &instruction) {
  const Instruction &first = instruction.rewrite->inner[0];
  const Instruction &second = instruction.rewrite->inner[1];
  Lanes &target = wave.v[first.target.index];
  const Lanes old = target;
  first.run(wave, first);
  const Lanes result = target;
  target = old; // What the second one may read.
  second.run(wave, second);
  target = result;
}

void run_rewritten(Wave &wave, const Instruction &instruction) {
  const Rewrite &rewrite = *instruction.rewrite;
  const Instruction &inner = rewrite.inner[0];
  for (unsigned n = 0; n < 3; ++n)
    if (rewrite.change[n].any() || (n == 0 && rewrite.movement))
      prepare(wave, instruction.source[n], rewrite, n);
  const uint64_t exec = wave.exec();
  uint64_t written = exec;
  if (rewrite.movement) {
    written = move(wave, *rewrite.movement);
    wave.set_exec(written);
  }
  Lanes &target = wave.v[inner.target.index];
  const Lanes old = target;
  inner.run(wave, inner);
  if (rewrite.target.bits < 32)
    merge(target, old, rewrite, written);
  if (rewrite.movement)
    wave.set_exec(exec);
}

} // namespace amdgpu
