// SPDX-License-Identifier: MIT
/// @file
/// @brief An AMD GPU in software: executes code objects on the CPU.
///
/// In: a code object (ELF) for gfx90a, gfx942, gfx1100, gfx1151 or gfx1201, and
/// launches of its kernels. Out: what the kernels do to this process's memory,
/// whose addresses are the device's. The workgroups of a launch run at the same
/// time, about a thousand waves of them, by turns that a seed decides.
///
/// Several images and runs may live at once. One thread at a time may use a
/// run; an image may be shared by threads once it is loaded.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @brief A loaded code object.
typedef struct amdgpu_image amdgpu_image;

/// @brief One launch of a kernel.
typedef struct amdgpu_run amdgpu_run;

/// @brief Bits of amdgpu_options.flags.
enum amdgpu_flags {
  /// Memory as weak as the architecture's memory model allows; else every
  /// access happens at once.
  AMDGPU_WEAK = 1 << 0,
  /// The clock is CLOCK_MONOTONIC at 100 MHz; else it counts the instructions
  /// of all waves of the run.
  AMDGPU_REAL_TIME = 1 << 1,
};

/// @brief Memory that a kernel may reach.
struct amdgpu_range {
  uint64_t address;
  uint64_t bytes;
};

/// @brief How to run a launch. Zero is the default of every member but the
/// first.
struct amdgpu_options {
  uint32_t struct_size; ///< sizeof(struct amdgpu_options).
  uint32_t flags;       ///< Bits of amdgpu_flags.
  uint64_t seed;        ///< Of every choice that the machine makes.
  uint64_t
      instruction_limit; ///< Of one wave, past which the run fails; 0: none.
  uint32_t dynamic_lds;  ///< Bytes of LDS beyond what the kernel declares.
  uint32_t range_count;  ///< Number of `ranges`.
  /// What the kernel may reach beside the code object and its arguments, copied
  /// by amdgpu_start; null: all that the process can.
  const struct amdgpu_range *ranges;
};

/// @brief Load a code object. It is disassembled by llvm-objdump, which the
/// environment variable XIOKV_LLVM_OBJDUMP may name.
/// @return The image; null with a line in `error` where it cannot be loaded.
amdgpu_image *amdgpu_load(const void *elf, size_t size, char *error,
                          size_t error_size);

/// @brief Forget an image, of which no run may be left. Null is allowed.
void amdgpu_unload(amdgpu_image *image);

/// @brief "gfx942"; with features, where the code object has them set:
/// "gfx942:sramecc+:xnack-".
const char *amdgpu_architecture(const amdgpu_image *image);

/// @brief Lanes of a wave: 32 or 64.
uint32_t amdgpu_wave(const amdgpu_image *image);

/// @brief Instructions of the image that the machine cannot execute, one a
/// line: address, text. A run that reaches one fails. Empty: none.
const char *amdgpu_unknown(const amdgpu_image *image);

/// @brief Where a global variable, or a kernel's code, is, and its size.
/// @return 0; -1: there is no such symbol.
int amdgpu_symbol(const amdgpu_image *image, const char *name, void **address,
                  uint64_t *size);

/// @brief Place and size of a kernel's argument `index`, hidden ones left out.
/// @return 0; -1: no such kernel, or no such argument.
int amdgpu_argument(const amdgpu_image *image, const char *kernel,
                    uint32_t index, uint32_t *offset, uint32_t *size);

/// @brief Launch a kernel. Nothing runs before amdgpu_step.
/// @param groups Number of workgroups in x, y, z.
/// @param lanes Lanes of a workgroup in x, y, z.
/// @param arguments The explicit arguments as the kernel's layout has them,
/// copied; the machine adds the hidden ones.
/// @param options Null: the defaults.
/// @return The run; null with a line in `error` where it cannot start.
amdgpu_run *amdgpu_start(amdgpu_image *image, const char *kernel,
                         const uint32_t groups[3], const uint32_t lanes[3],
                         const void *arguments, size_t size,
                         const struct amdgpu_options *options, char *error,
                         size_t error_size);

/// @brief Go on for at most so many steps. A step is an instruction of a wave
/// or, where memory is weak, an event of memory between instructions.
/// @return 1: there is more to do; 0: every wave ended and all memory is
/// written; -1: the run failed.
int amdgpu_step(amdgpu_run *run, uint64_t steps);

/// @brief Why the run failed, in one line: reason, instruction, address in the
/// image, wave. Empty: it has not.
const char *amdgpu_failure(const amdgpu_run *run);

/// @brief Instructions of all waves so far.
uint64_t amdgpu_instructions(const amdgpu_run *run);

/// @brief Forget a run, ended or not; what it has reached must be there still.
/// Null is allowed.
void amdgpu_finish(amdgpu_run *run);

#ifdef __cplusplus
}
#endif
